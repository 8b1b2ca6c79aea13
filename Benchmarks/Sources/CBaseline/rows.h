#pragma once

#include <stddef.h>
#include <stdint.h>

#include "baseline_mecab.h"

// One parameter of a statement in Postgres' binary form, written from left to right.
typedef struct {
    char *bytes;
    size_t size, capacity;
} parameter;

void parameter_free(parameter *value);
int parameter_number(parameter *value, int64_t number);
int parameter_text(parameter *value, const char *text, size_t length);
// Arrays for unnest: `count` elements.
int parameter_numbers(parameter *value, int64_t number, size_t count);
int parameter_same(parameter *value, const char *text, size_t count);
int parameter_texts(parameter *value, baseline_texts texts, size_t first, size_t last, size_t skip);
int parameter_states(parameter *value, const unsigned char *favorite, size_t first, size_t last);
