#pragma once

#include <curl/curl.h>

// libcurl's setters and getters are variadic, which Swift cannot call. One
// wrapper per kind of argument, as curl_easy_setopt(3) documents the kinds.

static inline CURLcode mb_easy_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode mb_easy_setopt_off_t(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode mb_easy_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode mb_easy_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*mb_data_callback)(char *data, size_t size, size_t count, void *context);

static inline CURLcode mb_easy_setopt_data_callback(CURL *handle, CURLoption option, mb_data_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode mb_easy_setopt_socket_callback(CURL *handle, curl_sockopt_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, value);
}

static inline CURLcode mb_easy_setopt_open_callback(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode mb_easy_setopt_departure_callback(CURL *handle, curl_prereq_callback value, void *context) {
    CURLcode result = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
    return result == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_PREREQDATA, context) : result;
}

static inline CURLcode mb_easy_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode mb_easy_getinfo_off_t(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode mb_easy_getinfo_string(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode mb_easy_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode mb_easy_getinfo_socket(CURL *handle, CURLINFO info, curl_socket_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode mb_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}

static inline CURLMcode mb_multi_setopt_pointer(CURLM *handle, CURLMoption option, void *value) {
    return curl_multi_setopt(handle, option, value);
}

static inline CURLMcode mb_multi_setopt_socket_callback(CURLM *handle, curl_socket_callback value) {
    return curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, value);
}

static inline CURLMcode mb_multi_setopt_timer_callback(CURLM *handle, curl_multi_timer_callback value) {
    return curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, value);
}

// CURLMsg keeps its result in an unnamed union, which Swift does not import.
static inline CURLcode mb_message_result(const CURLMsg *message) {
    return message->data.result;
}
