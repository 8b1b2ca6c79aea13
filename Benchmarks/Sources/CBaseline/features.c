#include "features.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

enum { longest = 128, separator = 0x1f };

void features_free(features *set) {
    free(set->list);
    free(set->table);
    free(set->arena);
    free(set->used);
    free(set->ends);
    baseline_words_free(&set->words);
    memset(set, 0, sizeof *set);
}

void features_clear(features *set) {
    if (set->table) memset(set->table, 0, set->table_size * sizeof *set->table);
    set->count = set->arena_size = set->used_count = set->posts = 0;
}

// Makes room for one more element of `size` bytes.
static int grow(void **memory, size_t count, size_t *slots, size_t size) {
    if (count < *slots) return 0;
    size_t wanted = *slots ? 2 * *slots : 256;
    void *larger = realloc(*memory, wanted * size);
    if (!larger) return baseline_fail("keep a feature", "no memory");
    *memory = larger;
    *slots = wanted;
    return 0;
}

static uint64_t hash_of(const char *bytes, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t index = 0; index < length; index++) hash = (hash ^ (unsigned char)bytes[index]) * 0x100000001b3u;
    return hash ^ (hash >> 29);
}

static int rehash(features *set) {
    size_t size = set->table_size ? 2 * set->table_size : 4096;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table) return baseline_fail("keep a feature", "no memory");
    for (size_t index = 0; index < set->count; index++) {
        size_t slot = set->list[index].hash & (size - 1);
        while (table[slot]) slot = (slot + 1) & (size - 1);
        table[slot] = (uint32_t)index + 1;
    }
    free(set->table);
    set->table = table;
    set->table_size = size;
    return 0;
}

static int add_new(features *set, const char *bytes, size_t length, uint64_t hash, size_t slot) {
    if (grow((void **)&set->list, set->count, &set->slots, sizeof *set->list) < 0) return -1;
    while (set->arena_size + length > set->arena_capacity) {
        size_t capacity = set->arena_capacity ? 2 * set->arena_capacity : 1 << 16;
        char *larger = realloc(set->arena, capacity);
        if (!larger) return baseline_fail("keep a feature", "no memory");
        set->arena = larger;
        set->arena_capacity = capacity;
    }
    memcpy(set->arena + set->arena_size, bytes, length);
    set->list[set->count] = (feature){
        .hash = hash,
        .start = set->arena_size,
        .length = (uint32_t)length,
        .is_pair = memchr(bytes, separator, length) != NULL,
    };
    set->arena_size += length;
    set->table[slot] = (uint32_t)++set->count;
    return 0;
}

// Notes that the post which is being added has this feature.
static int note(features *set, const char *bytes, size_t length, int is_favorite) {
    if (2 * set->count >= set->table_size && rehash(set) < 0) return -1;
    uint64_t hash = hash_of(bytes, length);
    size_t slot = hash & (set->table_size - 1);
    while (set->table[slot]) {
        const feature *found = &set->list[set->table[slot] - 1];
        if (found->hash == hash && found->length == length && !memcmp(set->arena + found->start, bytes, length)) break;
        slot = (slot + 1) & (set->table_size - 1);
    }
    if (!set->table[slot] && add_new(set, bytes, length, hash, slot) < 0) return -1;
    feature *entry = &set->list[set->table[slot] - 1];
    uint32_t post = (uint32_t)set->posts + 1;
    if (entry->last_post == post) return 0;
    entry->last_post = post;
    if (is_favorite) entry->favorite++;
    else entry->normal++;
    if (grow((void **)&set->used, set->used_count, &set->used_slots, sizeof *set->used) < 0) return -1;
    set->used[set->used_count++] = set->table[slot] - 1;
    return 0;
}

// Whether a word has anything but accents, joiners and variation selectors, and no white space or control character.
static int is_word(const unsigned char *bytes, size_t length) {
    int says_something = 0;
    for (size_t index = 0; index < length;) {
        uint32_t scalar = bytes[index];
        size_t size = scalar < 0x80 ? 1 : scalar < 0xe0 ? 2 : scalar < 0xf0 ? 3 : 4;
        if (index + size > length) return 0;
        if (size > 1) {
            scalar &= 0xffu >> (size + 1);
            for (size_t place = 1; place < size; place++) scalar = scalar << 6 | (bytes[index + place] & 0x3f);
        }
        index += size;
        if (scalar <= 0x20 || (scalar >= 0x7f && scalar <= 0xa0) || scalar == 0x3000) return 0;
        int is_empty = (scalar >= 0x300 && scalar <= 0x36f) || (scalar >= 0x200b && scalar <= 0x200f)
            || (scalar >= 0x3099 && scalar <= 0x309a) || (scalar >= 0xfe00 && scalar <= 0xfe0f);
        if (!is_empty) says_something = 1;
    }
    return says_something;
}

static const char *text_at(baseline_texts texts, size_t index, size_t *length) {
    size_t start = index == 0 ? 0 : texts.ends[index - 1] + 1;
    *length = texts.ends[index] - start;
    return texts.bytes + start;
}

static int add_words(features *set, baseline_choice choice, int is_favorite) {
    // The word before and the separator, as long as there is one.
    char pair[2 * longest + 1];
    size_t head = 0;
    uint32_t start = 0;
    for (size_t index = 0; index < set->words.count; index++) {
        uint32_t end = set->words.ends[index];
        const char *word = set->words.bytes + start;
        size_t length = end - start;
        start = end;
        if (length > longest) head = 0;
        if (length > longest || !is_word((const unsigned char *)word, length)) continue;
        if (set->words.is_content[index] && note(set, word, length, is_favorite) < 0) return -1;
        if (choice != baseline_pairs) continue;
        memcpy(pair + head, word, length);
        if (head > 0 && note(set, pair, head + length, is_favorite) < 0) return -1;
        memcpy(pair, word, length);
        pair[length] = separator;
        head = length + 1;
    }
    return 0;
}

int features_add(
    features *set, baseline_tokeniser *tokeniser, baseline_choice choice, const baseline_posts *posts, size_t index) {
    size_t length;
    int is_favorite = posts->favorite[index];
    const char *text = text_at(posts->cleaned, index, &length);
    if (baseline_pick(tokeniser, text, length, choice, &set->words) < 0) return -1;
    if (add_words(set, choice, is_favorite) < 0) return -1;
    const char *tag = text_at(posts->hashtags, index, &length);
    const char *end = tag + length;
    while (tag < end) {
        const char *stop = memchr(tag, '\n', (size_t)(end - tag));
        if (!stop) stop = end;
        if (stop - tag <= longest && note(set, tag, (size_t)(stop - tag), is_favorite) < 0) return -1;
        tag = stop + 1;
    }
    const char *author = text_at(posts->authors, index, &length);
    if (note(set, author, length, is_favorite) < 0) return -1;
    if (grow((void **)&set->ends, set->posts, &set->post_slots, sizeof *set->ends) < 0) return -1;
    set->ends[set->posts++] = set->used_count;
    return 0;
}
