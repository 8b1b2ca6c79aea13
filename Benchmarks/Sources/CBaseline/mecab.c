#include "baseline_mecab.h"

#include <mecab.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

struct baseline_model {
    mecab_model_t *model;
    // What becomes of a word, by its part of speech number in the IPA dictionary.
    unsigned char nouns[256], content[256];
};

struct baseline_tokeniser {
    const baseline_model *model;
    mecab_t *tagger;
    mecab_lattice_t *lattice;
};

enum { skip = 0, surface = 1, base = 2 };

static void set(unsigned char *table, int first, int last, unsigned char what) {
    for (int number = first; number <= last; number++) table[number] = what;
}

baseline_model *baseline_model_open(const char *dictionary) {
    char *arguments[] = {"mecab", "-r", "/dev/null", "-d", (char *)dictionary};
    baseline_model *model = calloc(1, sizeof *model);
    if (!model) return NULL;
    model->model = mecab_model_new(5, arguments);
    if (!model->model) {
        baseline_fail("open the dictionary", mecab_strerror(NULL));
        free(model);
        return NULL;
    }
    set(model->nouns, 36, 67, surface);
    set(model->content, 36, 67, surface);
    set(model->content, 2, 2, surface);
    set(model->content, 10, 12, base);
    set(model->content, 31, 33, base);
    set(model->content, 34, 35, surface);
    set(model->content, 68, 68, surface);
    return model;
}

void baseline_model_close(baseline_model *model) {
    if (!model) return;
    mecab_model_destroy(model->model);
    free(model);
}

baseline_tokeniser *baseline_tokeniser_new(baseline_model *model) {
    baseline_tokeniser *tokeniser = calloc(1, sizeof *tokeniser);
    if (!tokeniser) return NULL;
    tokeniser->model = model;
    tokeniser->tagger = mecab_model_new_tagger(model->model);
    tokeniser->lattice = mecab_model_new_lattice(model->model);
    if (!tokeniser->tagger || !tokeniser->lattice) {
        baseline_fail("make a tagger", mecab_strerror(NULL));
        baseline_tokeniser_free(tokeniser);
        return NULL;
    }
    return tokeniser;
}

void baseline_tokeniser_free(baseline_tokeniser *tokeniser) {
    if (!tokeniser) return;
    if (tokeniser->lattice) mecab_lattice_destroy(tokeniser->lattice);
    if (tokeniser->tagger) mecab_destroy(tokeniser->tagger);
    free(tokeniser);
}

void baseline_words_free(baseline_words *words) {
    free(words->bytes);
    free(words->ends);
    free(words->is_content);
    memset(words, 0, sizeof *words);
}

static int append(baseline_words *words, const char *bytes, size_t length) {
    if (words->size + length > words->capacity) {
        size_t capacity = 2 * (words->size + length);
        char *larger = realloc(words->bytes, capacity);
        if (!larger) return baseline_fail("keep a word", "no memory");
        words->bytes = larger;
        words->capacity = capacity;
    }
    if (words->count == words->slots) {
        size_t slots = words->slots ? 2 * words->slots : 64;
        uint32_t *larger = realloc(words->ends, slots * sizeof *larger);
        if (larger) words->ends = larger;
        unsigned char *marks = realloc(words->is_content, slots);
        if (marks) words->is_content = marks;
        if (!larger || !marks) return baseline_fail("keep a word", "no memory");
        words->slots = slots;
    }
    memcpy(words->bytes + words->size, bytes, length);
    words->size += length;
    words->ends[words->count++] = (uint32_t)words->size;
    return 0;
}

// The seventh field of the record, or the word as written where that is missing or "*".
static int append_base(baseline_words *words, const mecab_node_t *node) {
    const char *field = node->feature;
    for (int commas = 0; commas < 6; commas++) {
        field = strchr(field, ',');
        if (!field) return append(words, node->surface, node->length);
        field++;
    }
    size_t length = strcspn(field, ",");
    if (length == 0 || (length == 1 && *field == '*')) return append(words, node->surface, node->length);
    return append(words, field, length);
}

int baseline_pick(
    baseline_tokeniser *tokeniser, const char *text, size_t length, baseline_choice choice, baseline_words *words) {
    const unsigned char *table =
        choice == baseline_nouns ? tokeniser->model->nouns : tokeniser->model->content;
    words->size = 0;
    words->count = 0;
    mecab_lattice_set_sentence2(tokeniser->lattice, text, length);
    if (!mecab_parse_lattice(tokeniser->tagger, tokeniser->lattice)) {
        return baseline_fail("cut a text", mecab_lattice_strerror(tokeniser->lattice));
    }
    for (const mecab_node_t *node = mecab_lattice_get_bos_node(tokeniser->lattice); node; node = node->next) {
        if (node->stat != MECAB_NOR_NODE && node->stat != MECAB_UNK_NODE) continue;
        unsigned char what = node->posid < 256 ? table[node->posid] : skip;
        int is_content = what != skip;
        if (choice == baseline_pairs && !is_content) what = surface;
        if (what == surface && append(words, node->surface, node->length) < 0) return -1;
        if (what == base && append_base(words, node) < 0) return -1;
        if (what != skip) words->is_content[words->count - 1] = (unsigned char)is_content;
    }
    return 0;
}

static long pick_range(
    baseline_tokeniser *tokeniser, baseline_texts texts, baseline_choice choice, size_t first, size_t last) {
    baseline_words words = {0};
    long total = 0;
    size_t start = first == 0 ? 0 : texts.ends[first - 1] + 1;
    for (size_t index = first; index < last && total >= 0; index++) {
        int result = baseline_pick(tokeniser, texts.bytes + start, texts.ends[index] - start, choice, &words);
        total = result < 0 ? -1 : total + (long)words.count;
        start = texts.ends[index] + 1;
    }
    baseline_words_free(&words);
    return total;
}

long baseline_pick_all(baseline_tokeniser *tokeniser, baseline_texts texts, baseline_choice choice) {
    return pick_range(tokeniser, texts, choice, 0, texts.count);
}

typedef struct {
    baseline_model *model;
    baseline_texts texts;
    baseline_choice choice;
    size_t first, last;
    long total;
} share;

static void *pick_share(void *argument) {
    share *part = argument;
    baseline_tokeniser *tokeniser = baseline_tokeniser_new(part->model);
    part->total =
        tokeniser ? pick_range(tokeniser, part->texts, part->choice, part->first, part->last) : -1;
    baseline_tokeniser_free(tokeniser);
    return NULL;
}

long baseline_pick_all_threads(baseline_model *model, baseline_texts texts, baseline_choice choice, int threads) {
    enum { most = 16 };
    pthread_t running[most];
    share parts[most];
    long total = 0;
    int started = 0;
    if (threads < 1 || threads > most) return baseline_fail("start threads", "there may be 1 to 16");
    for (; started < threads; started++) {
        parts[started] = (share){
            .model = model,
            .texts = texts,
            .choice = choice,
            .first = texts.count * (size_t)started / (size_t)threads,
            .last = texts.count * (size_t)(started + 1) / (size_t)threads,
        };
        if (pthread_create(&running[started], NULL, pick_share, &parts[started])) break;
    }
    for (int index = 0; index < started; index++) {
        pthread_join(running[index], NULL);
        total = total < 0 || parts[index].total < 0 ? -1 : total + parts[index].total;
    }
    return started < threads ? baseline_fail("start threads", "the system refused") : total;
}
