#pragma once

#include <filesystem>
#include <string_view>

namespace evo {

/// Throws InputError if the path, after following links, is a pipe, a socket or a device. Reading a
/// pipe may block for ever, and replacing a device file such as /dev/null breaks other programs.
/// `done`: "read" or "written", for the message "FILE: cannot be …".
void require_no_special_file(const std::filesystem::path& file, std::string_view done);

/// Throws InputError for an SQLite database and for the files that SQLite keeps beside a database.
void require_no_database(const std::filesystem::path& file);

}  // namespace evo
