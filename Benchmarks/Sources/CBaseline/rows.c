#include "rows.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

enum { text_type = 25, bigint_type = 20 };

void parameter_free(parameter *value) {
    free(value->bytes);
    memset(value, 0, sizeof *value);
}

static int put(parameter *value, const void *bytes, size_t length) {
    if (value->size + length > value->capacity) {
        size_t capacity = 2 * (value->size + length);
        char *larger = realloc(value->bytes, capacity);
        if (!larger) return baseline_fail("write a parameter", "no memory");
        value->bytes = larger;
        value->capacity = capacity;
    }
    memcpy(value->bytes + value->size, bytes, length);
    value->size += length;
    return 0;
}

static int put_int(parameter *value, uint32_t number) {
    uint32_t big = htonl(number);
    return put(value, &big, sizeof big);
}

static int put_long(parameter *value, int64_t number) {
    if (put_int(value, (uint32_t)((uint64_t)number >> 32)) < 0) return -1;
    return put_int(value, (uint32_t)number);
}

static int put_text(parameter *value, const char *text, size_t length) {
    if (put_int(value, (uint32_t)length) < 0) return -1;
    return put(value, text, length);
}

// One dimension, no nulls, the type, how many elements, numbered from 1.
static int put_head(parameter *value, uint32_t type, size_t count) {
    value->size = 0;
    uint32_t head[] = {1, 0, type, (uint32_t)count, 1};
    for (size_t index = 0; index < 5; index++) {
        if (put_int(value, head[index]) < 0) return -1;
    }
    return 0;
}

int parameter_number(parameter *value, int64_t number) {
    value->size = 0;
    return put_long(value, number);
}

int parameter_text(parameter *value, const char *text, size_t length) {
    value->size = 0;
    return put(value, text, length);
}

int parameter_numbers(parameter *value, int64_t number, size_t count) {
    if (put_head(value, bigint_type, count) < 0) return -1;
    for (size_t index = 0; index < count; index++) {
        if (put_int(value, 8) < 0 || put_long(value, number) < 0) return -1;
    }
    return 0;
}

int parameter_same(parameter *value, const char *text, size_t count) {
    size_t length = strlen(text);
    if (put_head(value, text_type, count) < 0) return -1;
    for (size_t index = 0; index < count; index++) {
        if (put_text(value, text, length) < 0) return -1;
    }
    return 0;
}

int parameter_texts(parameter *value, baseline_texts texts, size_t first, size_t last, size_t skip) {
    if (put_head(value, text_type, last - first) < 0) return -1;
    size_t start = first == 0 ? 0 : texts.ends[first - 1] + 1;
    for (size_t index = first; index < last; index++) {
        if (put_text(value, texts.bytes + start + skip, texts.ends[index] - start - skip) < 0) return -1;
        start = texts.ends[index] + 1;
    }
    return 0;
}

int parameter_states(parameter *value, const unsigned char *favorite, size_t first, size_t last) {
    if (put_head(value, text_type, last - first) < 0) return -1;
    for (size_t index = first; index < last; index++) {
        const char *state = favorite[index] ? "favorite" : "seen";
        if (put_text(value, state, strlen(state)) < 0) return -1;
    }
    return 0;
}
