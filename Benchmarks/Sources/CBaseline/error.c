#include "error.h"

#include <stdio.h>

#include "CBaseline.h"

static _Thread_local char message[256];

int baseline_fail(const char *doing, const char *because) {
    snprintf(message, sizeof message, "could not %s: %s", doing, because && *because ? because : "no reason given");
    return -1;
}

const char *baseline_error(void) { return message; }
