#pragma once

#include <stddef.h>
#include <stdint.h>

// Texts one behind the other in one block, as they are handed to C before the clock starts.
//
// Behind each is a zero: MeCab is told where a text ends, and looks for a zero nevertheless.
typedef struct {
    const char *bytes;
    // Where each text ends, which is where its zero is; the first begins at 0.
    const size_t *ends;
    size_t count;
} baseline_texts;

typedef enum {
    baseline_nouns = 0,
    // Nouns, adverbs, interjections and adnominals as written; verbs and adjectives by their base form.
    baseline_content = 1,
    // Words of any class, which are marked where they are content.
    baseline_pairs = 2,
} baseline_choice;

// The words picked from one text, in memory of their own, since MeCab's is reused for the next text.
typedef struct {
    char *bytes;
    size_t size, capacity;
    // Where each word ends.
    uint32_t *ends;
    // Whether each word is a content word.
    unsigned char *is_content;
    size_t count, slots;
} baseline_words;

typedef struct baseline_model baseline_model;
typedef struct baseline_tokeniser baseline_tokeniser;

// Opens a dictionary; NULL when it cannot.
baseline_model *baseline_model_open(const char *dictionary);
void baseline_model_close(baseline_model *model);

// A tagger and a lattice of one thread.
baseline_tokeniser *baseline_tokeniser_new(baseline_model *model);
void baseline_tokeniser_free(baseline_tokeniser *tokeniser);

// Cuts one text and picks its words into `words`, which are those of the text before until then.
int baseline_pick(
    baseline_tokeniser *tokeniser, const char *text, size_t length, baseline_choice choice, baseline_words *words);
void baseline_words_free(baseline_words *words);

// Picks the words of all texts; returns how many there were.
long baseline_pick_all(baseline_tokeniser *tokeniser, baseline_texts texts, baseline_choice choice);

// The same on several threads, each with a tokeniser of its own and with an equal share of the texts.
long baseline_pick_all_threads(baseline_model *model, baseline_texts texts, baseline_choice choice, int threads);
