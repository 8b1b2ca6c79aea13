#pragma once

#include <sqlite3.h>

// Swift cannot call a function with a variable number of arguments.

/// Lets no text in double quotes stand for a string where it names no column.
static inline int mirror_bot_sqlite_refuse_quoted_strings(sqlite3 *_Nonnull connection) {
    int outcome = sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    return outcome == SQLITE_OK ? sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0) : outcome;
}
