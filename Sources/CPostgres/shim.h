#pragma once

// Debian keeps the header in a folder of its own; pkg-config, where it exists,
// puts that folder on the search path. Both layouts build.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
