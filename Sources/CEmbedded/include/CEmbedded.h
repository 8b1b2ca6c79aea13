#ifndef MIRROR_BOT_EMBEDDED_H
#define MIRROR_BOT_EMBEDDED_H

#include <stddef.h>

/// A file that is part of the program.
typedef struct {
    /// The module or folder and the name: "Web/style.css", "migrations/0056_tables.sql".
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
} EmbeddedFile;

/// All of them, each folder's in the order of their names.
extern const EmbeddedFile *const _Nonnull embedded_files;

/// How many they are.
extern const size_t embedded_count;

#endif
