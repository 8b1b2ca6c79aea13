// The lists of Conduct as bytes of the program. SwiftPM would write them as an array literal of numbers, which takes the
// Swift compiler longer than the rest of Conduct.

#include "CRules.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char fitness[] = {
#embed "../Conduct/Resources/fitness.tsv"
};

static const unsigned char replies[] = {
#embed "../Conduct/Resources/replies.txt"
};

static const unsigned char stop[] = {
#embed "../Conduct/Resources/stop.txt"
};

EmbeddedText embedded_fitness(void) { return (EmbeddedText){fitness, sizeof fitness}; }

EmbeddedText embedded_replies(void) { return (EmbeddedText){replies, sizeof replies}; }

EmbeddedText embedded_stop(void) { return (EmbeddedText){stop, sizeof stop}; }
