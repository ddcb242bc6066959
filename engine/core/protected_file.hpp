#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace evo {

/// Throws InputError for what is there and is a pipe, a socket or a device, links followed: to read
/// it may wait for ever, to replace it takes it from the machine. `done`: "read", "written".
void require_no_special_file(const std::filesystem::path& file, std::string_view done);

/// Throws InputError for a database of SQLite, and for the files that SQLite keeps beside one.
void require_no_database(const std::filesystem::path& file);

/// Throws InputError when a file is there that does not say near its beginning that `writer` wrote
/// it, by any of `marks`: somebody's own work.
void require_own_file(const std::filesystem::path& file, std::string_view writer,
                      std::span<const std::string_view> marks);

}  // namespace evo
