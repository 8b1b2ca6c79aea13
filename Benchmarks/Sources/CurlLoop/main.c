// The requests of a fleet as a C program makes them that has only libcurl: one multi handle, one thread, answers read
// into memory and thrown away. Tests/Torture/Fleet starts it and compares processor times.
//
// CurlLoop FILE RATE SECONDS CONNECTIONS
//   FILE         a request a line: URL, a tab, access token
//   RATE         requests a second, evenly spaced; the list is repeated
//   SECONDS      how long
//   CONNECTIONS  how many connections are kept open at most
// Writes one JSON object: requests, failed, processor (seconds of user and system time), wall (seconds).

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct request {
    char *url;
    struct curl_slist *headers;
};

struct transfer {
    CURL *easy;
    size_t length;
    char *body;
    size_t capacity;
    struct transfer *next;
};

static void fail(const char *what) {
    fprintf(stderr, "could not %s: %s\n", what, strerror(errno));
    exit(1);
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double processor(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static size_t take(char *bytes, size_t size, size_t count, void *pointer) {
    struct transfer *transfer = pointer;
    size_t length = size * count;
    if (transfer->length + length > transfer->capacity) {
        transfer->capacity = 2 * (transfer->length + length);
        transfer->body = realloc(transfer->body, transfer->capacity);
        if (transfer->body == NULL) fail("hold an answer");
    }
    memcpy(transfer->body + transfer->length, bytes, length);
    transfer->length += length;
    return length;
}

static struct request *read_requests(const char *path, size_t *count) {
    FILE *file = fopen(path, "r");
    if (file == NULL) fail("open the requests");
    struct request *requests = NULL;
    size_t number = 0, capacity = 0, size = 0;
    char *line = NULL;
    ssize_t length;
    while ((length = getline(&line, &size, file)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        char *token = strchr(line, '\t');
        if (token == NULL) continue;
        *token++ = 0;
        if (number == capacity) {
            capacity = capacity == 0 ? 1024 : 2 * capacity;
            requests = realloc(requests, capacity * sizeof *requests);
            if (requests == NULL) fail("hold the requests");
        }
        char header[512];
        snprintf(header, sizeof header, "Authorization: Bearer %s", token);
        requests[number].url = strdup(line);
        requests[number].headers = curl_slist_append(curl_slist_append(NULL, header), "Accept: application/json");
        number++;
    }
    free(line);
    fclose(file);
    *count = number;
    return requests;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: CurlLoop FILE RATE SECONDS CONNECTIONS\n");
        return 64;
    }
    double rate = atof(argv[2]), length = atof(argv[3]);
    long connections = atol(argv[4]);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    size_t count = 0;
    struct request *requests = read_requests(argv[1], &count);
    if (count == 0 || rate <= 0 || length <= 0) {
        fprintf(stderr, "could not begin: no request, no rate or no time\n");
        return 64;
    }
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections);
    struct transfer *idle = NULL;
    size_t sent = 0, done = 0, failed = 0;
    double first_processor = processor(), start = seconds();
    size_t wanted = (size_t)(rate * length);
    while (done < wanted) {
        double passed = seconds() - start;
        if (passed > length + 60) break;
        size_t due = (size_t)(passed * rate) + 1;
        while (sent < due && sent < wanted) {
            struct transfer *transfer = idle;
            if (transfer != NULL) {
                idle = transfer->next;
            } else {
                transfer = calloc(1, sizeof *transfer);
                if (transfer == NULL) fail("make a transfer");
                transfer->easy = curl_easy_init();
                curl_easy_setopt(transfer->easy, CURLOPT_WRITEFUNCTION, take);
                curl_easy_setopt(transfer->easy, CURLOPT_WRITEDATA, transfer);
                curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
                curl_easy_setopt(transfer->easy, CURLOPT_USERAGENT, "curl-loop");
                curl_easy_setopt(transfer->easy, CURLOPT_NOSIGNAL, 1L);
                curl_easy_setopt(transfer->easy, CURLOPT_TIMEOUT, 30L);
            }
            struct request *request = &requests[sent % count];
            transfer->length = 0;
            curl_easy_setopt(transfer->easy, CURLOPT_URL, request->url);
            curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, request->headers);
            curl_multi_add_handle(multi, transfer->easy);
            sent++;
        }
        int running = 0;
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(multi, &left)) != NULL) {
            if (message->msg != CURLMSG_DONE) continue;
            struct transfer *transfer = NULL;
            long status = 0;
            CURLcode code = message->data.result;
            CURL *easy = message->easy_handle;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            if (code != CURLE_OK || status != 200) failed++;
            done++;
            curl_multi_remove_handle(multi, easy);
            transfer->next = idle;
            idle = transfer;
        }
        double next = start + (double)sent / rate - seconds();
        int wait = sent >= wanted || next > 1 ? 1000 : next < 0 ? 0 : (int)(next * 1000) + 1;
        if (done < wanted) curl_multi_poll(multi, NULL, 0, wait, NULL);
    }
    printf(
        "{\"requests\":%zu,\"failed\":%zu,\"processor\":%.6f,\"wall\":%.3f}\n", done, failed,
        processor() - first_processor, seconds() - start);
    return 0;
}
