#pragma once

#include <stddef.h>
#include <stdint.h>

#include "baseline_mecab.h"

// Labelled posts, each a text at the same place of every block.
typedef struct {
    baseline_texts ids;
    // As they are stored.
    baseline_texts texts;
    // `@` and the handle in lower case.
    baseline_texts authors;
    // The texts without links and mentions, in one Unicode form: the baseline need not clean them.
    baseline_texts cleaned;
    // The hashtags that cleaning found, each with a line feed behind it.
    baseline_texts hashtags;
    // 1 for a favorite.
    const unsigned char *favorite;
} baseline_posts;

typedef struct baseline_classifier baseline_classifier;

// Connects to both servers; NULL when it cannot. Examples go to the tables of mirror-bot, counts to its hashes.
// The choice is `baseline_content` or `baseline_pairs`.
baseline_classifier *baseline_classifier_open(
    baseline_model *model, baseline_choice choice, const char *postgres, const char *redis_host, int redis_port,
    const char *mirror);
void baseline_classifier_close(baseline_classifier *classifier);

// Stores posts as examples and adds their features to the counts, `batch` posts in a transaction.
int baseline_learn(baseline_classifier *classifier, const baseline_posts *posts, size_t batch);

// Computes the log of the favorite rate of the posts from `first` to before `last` from one reading of the counts.
int baseline_classify(
    baseline_classifier *classifier, const baseline_posts *posts, size_t first, size_t last, double *log_rates);

// Sends Redis a PING and waits for the answer.
int baseline_ping(baseline_classifier *classifier);

// Takes away what was learned under the mirror's name.
int baseline_clear(baseline_classifier *classifier);
