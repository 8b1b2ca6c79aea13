#ifndef MIRROR_BOT_RULES_H
#define MIRROR_BOT_RULES_H

#include <stddef.h>

/// A file that is part of the program, in UTF-8.
typedef struct {
    const void *_Nonnull bytes;
    size_t count;
} EmbeddedText;

/// Conduct/Resources/fitness.tsv: what keeps a text from standing for itself.
EmbeddedText embedded_fitness(void);

/// Conduct/Resources/replies.txt: the kinds of mentions and replies.
EmbeddedText embedded_replies(void);

/// Conduct/Resources/stop.txt: the words with which people ask the bot to stop.
EmbeddedText embedded_stop(void);

#endif
