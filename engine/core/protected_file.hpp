#pragma once

#include <filesystem>
#include <string_view>

namespace evo {

/// Throws InputError for what is there and is a pipe, a socket or a device, links followed: to read
/// it may wait for ever, to replace it takes it from the machine. `done`: "read", "written".
void require_no_special_file(const std::filesystem::path& file, std::string_view done);

/// Throws InputError for a database of SQLite, and for the files that SQLite keeps beside one.
void require_no_database(const std::filesystem::path& file);

}  // namespace evo
