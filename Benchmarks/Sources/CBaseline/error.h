#pragma once

// Remembers why something failed, cut at 255 bytes, and returns -1.
int baseline_fail(const char *doing, const char *because);
