#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace evo {

/// Adds the functions that upgrade_4.sql calls: `zstd_frame(value)`, the bytes packed, and
/// `content_key(value)`. No view and no trigger uses them, so that the sqlite3 shell reads
/// everything.
void add_migration_functions(SQLite::Database& database);

}  // namespace evo
