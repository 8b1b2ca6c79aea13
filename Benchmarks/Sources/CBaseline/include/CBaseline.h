// The baselines: each does in C, with the library alone, what a line of the table measures.
//
// Functions that can fail return a negative number; baseline_error() then says why. Every object belongs to one thread
// at a time; a model may be shared.
#pragma once

#include "baseline_classifier.h"
#include "baseline_mecab.h"

// Why the last function of this thread failed.
const char *baseline_error(void);
