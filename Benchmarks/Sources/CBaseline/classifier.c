#include "baseline_classifier.h"

#include <hiredis/hiredis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#include "error.h"
#include "features.h"
#include "rows.h"

enum { most_parameters = 8, key_length = 128 };

struct baseline_classifier {
    baseline_tokeniser *tokeniser;
    baseline_choice choice;
    PGconn *postgres;
    redisContext *redis;
    char mirror[32];
    char categories[key_length], favorites[key_length], normals[key_length];
    int64_t sequence;
    features features;
    parameter parameters[most_parameters];
    // The arguments of one command.
    const char **arguments;
    size_t *lengths;
    size_t argument_count, argument_slots;
    // Per feature, what the counts say.
    double *evidence;
    size_t evidence_slots;
};

static const char counter[] = "examples.sequence";
static const char stamp_field[] = "applied batch";

// MARK: Postgres

static int failed(baseline_classifier *classifier, const char *doing) {
    return baseline_fail(doing, PQerrorMessage(classifier->postgres));
}

static int run(baseline_classifier *classifier, const char *statement) {
    PGresult *result = PQexec(classifier->postgres, statement);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : failed(classifier, statement);
}

static int prepare(baseline_classifier *classifier, const char *name, const char *statement) {
    PGresult *result = PQprepare(classifier->postgres, name, statement, 0, NULL);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK ? 0 : failed(classifier, statement);
}

static int prepare_all(baseline_classifier *classifier) {
    static const char *const statements[][2] = {
        {"lock", "INSERT INTO counters (mirror, name, value) VALUES ($1, $2, 0) "
                 "ON CONFLICT (mirror, name) DO UPDATE SET value = counters.value RETURNING value"},
        {"sequence", "SELECT value FROM counters WHERE mirror = $1 AND name = $2"},
        {"advance", "UPDATE counters SET value = $3 WHERE mirror = $1 AND name = $2"},
        // As ours: `post_id = ANY` may read the whole table.
        {"known", "SELECT post_id, (SELECT state FROM examples "
                  "WHERE mirror = $1 AND network = $2 AND post_id = asked.post_id) "
                  "FROM unnest($3::text[]) AS asked (post_id)"},
        {"store", "INSERT INTO examples (mirror, network, post_id, author, text, state, decided_ms, sequence) "
                  "SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], "
                  "$7::bigint[], $8::bigint[]) ON CONFLICT (mirror, network, post_id) DO UPDATE SET "
                  "author = excluded.author, text = excluded.text, state = excluded.state, "
                  "decided_ms = excluded.decided_ms, sequence = excluded.sequence"},
    };
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index++) {
        if (prepare(classifier, statements[index][0], statements[index][1]) < 0) return -1;
    }
    return 0;
}

// Runs a prepared statement with the first `count` parameters.
static PGresult *query(baseline_classifier *classifier, const char *name, int count) {
    const char *values[most_parameters];
    int lengths[most_parameters], formats[most_parameters];
    for (int index = 0; index < count; index++) {
        values[index] = classifier->parameters[index].bytes;
        lengths[index] = (int)classifier->parameters[index].size;
        formats[index] = 1;
    }
    PGresult *result = PQexecPrepared(classifier->postgres, name, count, values, lengths, formats, 1);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return result;
    failed(classifier, name);
    PQclear(result);
    return NULL;
}

static int execute(baseline_classifier *classifier, const char *name, int count) {
    PGresult *result = query(classifier, name, count);
    PQclear(result);
    return result ? 0 : -1;
}

static int name_counter(baseline_classifier *classifier) {
    parameter *values = classifier->parameters;
    if (parameter_text(&values[0], classifier->mirror, strlen(classifier->mirror)) < 0) return -1;
    return parameter_text(&values[1], counter, strlen(counter));
}

// Takes the examples' turn; posts that are known already would be left out here, but there are none.
static int lock_examples(baseline_classifier *classifier, const baseline_posts *posts, size_t first, size_t last) {
    parameter *values = classifier->parameters;
    if (name_counter(classifier) < 0 || execute(classifier, "lock", 2) < 0) return -1;
    if (parameter_text(&values[1], "mastodon", 8) < 0) return -1;
    if (parameter_texts(&values[2], posts->ids, first, last, 0) < 0) return -1;
    PGresult *result = query(classifier, "known", 3);
    if (!result) return -1;
    int known = 0;
    for (int row = 0; row < PQntuples(result); row++) known += !PQgetisnull(result, row, 1);
    PQclear(result);
    return known == 0 ? 0 : baseline_fail("learn", "posts are known already");
}

static int store(baseline_classifier *classifier, const baseline_posts *posts, size_t first, size_t last) {
    size_t count = last - first;
    parameter *values = classifier->parameters;
    if (parameter_same(&values[0], classifier->mirror, count) < 0) return -1;
    if (parameter_same(&values[1], "mastodon", count) < 0) return -1;
    if (parameter_texts(&values[2], posts->ids, first, last, 0) < 0) return -1;
    // Stored without the `@`.
    if (parameter_texts(&values[3], posts->authors, first, last, 1) < 0) return -1;
    if (parameter_texts(&values[4], posts->texts, first, last, 0) < 0) return -1;
    if (parameter_states(&values[5], posts->favorite, first, last) < 0) return -1;
    if (parameter_numbers(&values[6], 1763700000000, count) < 0) return -1;
    if (parameter_numbers(&values[7], classifier->sequence, count) < 0) return -1;
    if (execute(classifier, "store", 8) < 0 || name_counter(classifier) < 0) return -1;
    if (parameter_number(&values[2], classifier->sequence) < 0) return -1;
    return execute(classifier, "advance", 3);
}

// MARK: Redis

static void begin(baseline_classifier *classifier) { classifier->argument_count = 0; }

static int argument(baseline_classifier *classifier, const char *bytes, size_t length) {
    if (classifier->argument_count == classifier->argument_slots) {
        size_t slots = classifier->argument_slots ? 2 * classifier->argument_slots : 64;
        const char **arguments = realloc(classifier->arguments, slots * sizeof *arguments);
        if (arguments) classifier->arguments = arguments;
        size_t *lengths = realloc(classifier->lengths, slots * sizeof *lengths);
        if (lengths) classifier->lengths = lengths;
        if (!arguments || !lengths) return baseline_fail("write a command", "no memory");
        classifier->argument_slots = slots;
    }
    classifier->arguments[classifier->argument_count] = bytes;
    classifier->lengths[classifier->argument_count++] = length;
    return 0;
}

static int word(baseline_classifier *classifier, const char *text) {
    return argument(classifier, text, strlen(text));
}

static int append(baseline_classifier *classifier) {
    int result = redisAppendCommandArgv(
        classifier->redis, (int)classifier->argument_count, classifier->arguments, classifier->lengths);
    return result == REDIS_OK ? 0 : baseline_fail("write a command", classifier->redis->errstr);
}

static int append_words(baseline_classifier *classifier, const char *const *words, size_t count) {
    begin(classifier);
    for (size_t index = 0; index < count; index++) {
        if (word(classifier, words[index]) < 0) return -1;
    }
    return append(classifier);
}

// HINCRBY key field amount
static int append_increment(
    baseline_classifier *classifier, const char *key, const char *field, size_t length, int64_t amount) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)amount);
    begin(classifier);
    if (word(classifier, "HINCRBY") < 0 || word(classifier, key) < 0) return -1;
    if (argument(classifier, field, length) < 0 || word(classifier, number) < 0) return -1;
    return append(classifier);
}

// Reads one reply, which the caller frees.
static redisReply *reply(baseline_classifier *classifier) {
    void *reply = NULL;
    if (redisGetReply(classifier->redis, &reply) != REDIS_OK || !reply) {
        baseline_fail("ask Redis", classifier->redis->errstr);
        return NULL;
    }
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR) {
        baseline_fail("ask Redis", ((redisReply *)reply)->str);
        freeReplyObject(reply);
        return NULL;
    }
    return reply;
}

static int skip_replies(baseline_classifier *classifier, size_t count) {
    for (size_t index = 0; index < count; index++) {
        redisReply *one = reply(classifier);
        if (!one) return -1;
        freeReplyObject(one);
    }
    return 0;
}

// One transaction of as few commands as the batch has features, sent together.
static int count_batch(baseline_classifier *classifier) {
    const features *set = &classifier->features;
    const char *const multi[] = {"MULTI"}, *const exec[] = {"EXEC"};
    int64_t favorites = 0, normals = 0;
    size_t commands = 0;
    if (append_words(classifier, multi, 1) < 0) return -1;
    for (size_t index = 0; index < set->count; index++) {
        const feature *one = &set->list[index];
        const char *name = set->arena + one->start;
        if (one->favorite) {
            if (append_increment(classifier, classifier->favorites, name, one->length, one->favorite) < 0) return -1;
            commands++;
        }
        if (one->normal) {
            if (append_increment(classifier, classifier->normals, name, one->length, one->normal) < 0) return -1;
            commands++;
        }
        if (*name == '@') {
            favorites += one->favorite;
            normals += one->normal;
        }
    }
    if (append_increment(classifier, classifier->categories, "favorite", 8, favorites) < 0) return -1;
    if (append_increment(classifier, classifier->categories, "normal", 6, normals) < 0) return -1;
    if (append_increment(classifier, classifier->categories, "seen", 4, normals) < 0) return -1;
    char stamp[24];
    snprintf(stamp, sizeof stamp, "%lld", (long long)classifier->sequence);
    const char *const keys[] = {classifier->categories, classifier->favorites, classifier->normals};
    for (size_t index = 0; index < 3; index++) {
        const char *const set_stamp[] = {"HSET", keys[index], stamp_field, stamp};
        if (append_words(classifier, set_stamp, 4) < 0) return -1;
    }
    if (append_words(classifier, exec, 1) < 0) return -1;
    return skip_replies(classifier, commands + 8);
}

int baseline_learn(baseline_classifier *classifier, const baseline_posts *posts, size_t batch) {
    features *set = &classifier->features;
    for (size_t first = 0; first < posts->texts.count; first += batch) {
        size_t last = first + batch < posts->texts.count ? first + batch : posts->texts.count;
        features_clear(set);
        for (size_t index = first; index < last; index++) {
            if (features_add(set, classifier->tokeniser, classifier->choice, posts, index) < 0) return -1;
        }
        classifier->sequence++;
        if (run(classifier, "BEGIN ISOLATION LEVEL SERIALIZABLE") < 0) return -1;
        if (lock_examples(classifier, posts, first, last) < 0 || store(classifier, posts, first, last) < 0) {
            return -1;
        }
        if (run(classifier, "COMMIT") < 0) return -1;
        if (first == 0 && run(classifier, "ANALYZE examples") < 0) return -1;
        if (count_batch(classifier) < 0) return -1;
    }
    return 0;
}

// MARK: Classifying

// HMGET key stamp feature …
static int append_reading(baseline_classifier *classifier, const char *key) {
    const features *set = &classifier->features;
    begin(classifier);
    if (word(classifier, "HMGET") < 0 || word(classifier, key) < 0 || word(classifier, stamp_field) < 0) return -1;
    for (size_t index = 0; index < set->count; index++) {
        if (argument(classifier, set->arena + set->list[index].start, set->list[index].length) < 0) return -1;
    }
    return append(classifier);
}

static double count_in(const redisReply *element) {
    return element->type == REDIS_REPLY_STRING ? (double)strtoll(element->str, NULL, 10) : 0;
}

// All counts of one moment: categories, favorites, normals.
static redisReply *read_counts(baseline_classifier *classifier) {
    const char *const multi[] = {"MULTI"}, *const exec[] = {"EXEC"};
    const char *const categories[] = {
        "HMGET", classifier->categories, stamp_field, "favorite", "normal", "seen", "seen:favorite"};
    if (append_words(classifier, multi, 1) < 0 || append_words(classifier, categories, 7) < 0) return NULL;
    if (append_reading(classifier, classifier->favorites) < 0) return NULL;
    if (append_reading(classifier, classifier->normals) < 0 || append_words(classifier, exec, 1) < 0) return NULL;
    if (skip_replies(classifier, 4) < 0) return NULL;
    redisReply *answer = reply(classifier);
    if (answer && (answer->type != REDIS_REPLY_ARRAY || answer->elements != 3)) {
        baseline_fail("read the counts", "the answer has another form");
        freeReplyObject(answer);
        return NULL;
    }
    return answer;
}

// What each feature adds to the log odds.
static int weigh(baseline_classifier *classifier, const redisReply *counts, double *base) {
    const features *set = &classifier->features;
    if (classifier->evidence_slots < set->count) {
        double *larger = realloc(classifier->evidence, 2 * set->count * sizeof *larger);
        if (!larger) return baseline_fail("weigh features", "no memory");
        classifier->evidence = larger;
        classifier->evidence_slots = 2 * set->count;
    }
    redisReply **sums = counts->element[0]->element;
    double favorites = count_in(sums[1]), normals = count_in(sums[2]);
    double seen = count_in(sums[3]), seen_favorites = count_in(sums[4]);
    double share = (0.5 + favorites) / (5 + favorites + normals);
    double other = (4.5 + normals) / (5 + favorites + normals);
    double learned = log(share / other);
    *base = log((0.5 + seen_favorites) / (4.5 + seen - seen_favorites));
    for (size_t index = 0; index < set->count; index++) {
        double favorite = count_in(counts->element[1]->element[index + 1]);
        double normal = count_in(counts->element[2]->element[index + 1]);
        classifier->evidence[index] = favorite == 0 && normal == 0
            ? 0 : log((5 * share + favorite) / (5 * other + normal)) - learned;
    }
    return 0;
}

int baseline_classify(
    baseline_classifier *classifier, const baseline_posts *posts, size_t first, size_t last, double *log_rates) {
    features *set = &classifier->features;
    features_clear(set);
    for (size_t index = first; index < last; index++) {
        if (features_add(set, classifier->tokeniser, classifier->choice, posts, index) < 0) return -1;
    }
    // Which batch the counts must contain.
    if (name_counter(classifier) < 0 || execute(classifier, "sequence", 2) < 0) return -1;
    redisReply *counts = read_counts(classifier);
    if (!counts) return -1;
    double base = 0;
    int result = weigh(classifier, counts, &base);
    freeReplyObject(counts);
    if (result < 0) return -1;
    size_t start = 0;
    for (size_t index = 0; index < set->posts; index++) {
        // The author is the last feature of a post and counts in full.
        size_t author = set->ends[index] - 1;
        double sums[2] = {0, 0};
        size_t counts[2] = {0, 0};
        for (size_t place = start; place < author; place++) {
            uint32_t is_pair = set->list[set->used[place]].is_pair;
            sums[is_pair] += classifier->evidence[set->used[place]];
            counts[is_pair]++;
        }
        double words = counts[0] > 0 ? sums[0] / sqrt((double)counts[0]) : 0;
        double pairs = counts[1] > 0 ? sums[1] / sqrt((double)counts[1]) : 0;
        log_rates[index] = base + words + pairs / 2 + classifier->evidence[set->used[author]];
        start = set->ends[index];
    }
    return 0;
}

int baseline_ping(baseline_classifier *classifier) {
    const char *const ping[] = {"PING"};
    return append_words(classifier, ping, 1) < 0 ? -1 : skip_replies(classifier, 1);
}

// MARK: Opening and clearing

baseline_classifier *baseline_classifier_open(
    baseline_model *model, baseline_choice choice, const char *postgres, const char *redis_host, int redis_port,
    const char *mirror) {
    baseline_classifier *classifier = calloc(1, sizeof *classifier);
    if (!classifier) return NULL;
    classifier->choice = choice;
    snprintf(classifier->mirror, sizeof classifier->mirror, "%s", mirror);
    snprintf(classifier->categories, key_length, "mirror-bot:{%s}:categories", mirror);
    snprintf(classifier->favorites, key_length, "mirror-bot:{%s}:features:favorite", mirror);
    snprintf(classifier->normals, key_length, "mirror-bot:{%s}:features:normal", mirror);
    classifier->tokeniser = baseline_tokeniser_new(model);
    classifier->postgres = PQconnectdb(postgres);
    classifier->redis = redisConnect(redis_host, redis_port);
    int is_open = 0;
    if (PQstatus(classifier->postgres) != CONNECTION_OK) failed(classifier, "connect to Postgres");
    else if (!classifier->redis || classifier->redis->err) baseline_fail("connect to Redis", "it does not answer");
    else is_open = classifier->tokeniser && prepare_all(classifier) == 0;
    if (is_open) return classifier;
    baseline_classifier_close(classifier);
    return NULL;
}

void baseline_classifier_close(baseline_classifier *classifier) {
    if (!classifier) return;
    baseline_tokeniser_free(classifier->tokeniser);
    PQfinish(classifier->postgres);
    if (classifier->redis) redisFree(classifier->redis);
    features_free(&classifier->features);
    for (size_t index = 0; index < most_parameters; index++) parameter_free(&classifier->parameters[index]);
    free(classifier->arguments);
    free(classifier->lengths);
    free(classifier->evidence);
    free(classifier);
}

int baseline_clear(baseline_classifier *classifier) {
    if (run(classifier, "TRUNCATE examples, counters") < 0) return -1;
    const char *const unlink[] = {"UNLINK", classifier->categories, classifier->favorites, classifier->normals};
    if (append_words(classifier, unlink, 4) < 0) return -1;
    return skip_replies(classifier, 1);
}
