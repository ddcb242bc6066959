#include "db/migration_functions.hpp"

#include <sqlite3.h>

#include <exception>
#include <memory>
#include <string_view>

#include "engine/core/hash.hpp"
#include "engine/core/zstd_frames.hpp"

namespace evo {
namespace {

std::string_view bytes_of(sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, size);
}

// Nothing may be thrown through SQLite.

void zstd_frame(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  try {
    auto& frames = *static_cast<ZstdFrames*>(sqlite3_user_data(context));
    const std::string frame = frames.pack(bytes_of(values[0]));
    sqlite3_result_blob64(context, frame.data(), frame.size(), SQLITE_TRANSIENT);
  } catch (const std::exception& error) {
    sqlite3_result_error(context, error.what(), -1);
  }
}

void key_of_content(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  try {
    const std::string key = content_key(bytes_of(values[0]));
    sqlite3_result_text(context, key.data(), static_cast<int>(key.size()), SQLITE_TRANSIENT);
  } catch (const std::exception& error) {
    sqlite3_result_error(context, error.what(), -1);
  }
}

}  // namespace

void add_migration_functions(SQLite::Database& database) {
  auto frames = std::make_unique<ZstdFrames>();
  // SQLite destroys it, also when it cannot add the function.
  database.createFunction("zstd_frame", 1, true, frames.release(), zstd_frame, nullptr, nullptr,
                          [](void* held) { delete static_cast<ZstdFrames*>(held); });
  database.createFunction("content_key", 1, true, nullptr, key_of_content);
}

}  // namespace evo
