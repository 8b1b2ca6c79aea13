#pragma once

#include <stddef.h>
#include <stdint.h>

#include "baseline_classifier.h"

// A feature and how many posts of a batch have it.
typedef struct {
    uint64_t hash;
    // Where it begins in the arena, and its length.
    size_t start;
    uint32_t length;
    // The post that had it last, counted from 1, so that it counts once a post.
    uint32_t last_post;
    // Two neighbouring words with U+001F between them.
    uint32_t is_pair;
    int64_t favorite, normal;
} feature;

// The distinct features of a batch of posts, in the order in which they were found.
typedef struct {
    feature *list;
    size_t count, slots;
    // Places in `list` plus one, by hash.
    uint32_t *table;
    size_t table_size;
    char *arena;
    size_t arena_size, arena_capacity;
    // The features of each post, one after the other, and where those of each post end; authors last.
    uint32_t *used;
    size_t used_count, used_slots;
    size_t *ends;
    size_t posts, post_slots;
    baseline_words words;
} features;

void features_free(features *set);
void features_clear(features *set);
// Adds the features of post `index`: content words, with `baseline_pairs` also the pairs of neighbours.
int features_add(
    features *set, baseline_tokeniser *tokeniser, baseline_choice choice, const baseline_posts *posts, size_t index);
