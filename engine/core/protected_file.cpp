#include "engine/core/protected_file.hpp"

#include <fstream>
#include <string>

#include "engine/core/error.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

/// The first `bytes` bytes of a file; fewer if the file is shorter or cannot be read.
std::string beginning(const fs::path& file, std::size_t bytes) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

/// SQLite files begin with this header: https://www.sqlite.org/fileformat.html, section 1.3.1.
bool is_database(const fs::path& file) {
  constexpr std::string_view kHeader("SQLite format 3\0", 16);
  std::error_code error;
  return fs::is_regular_file(file, error) && beginning(file, kHeader.size()) == kHeader;
}

}  // namespace

void require_no_special_file(const fs::path& file, std::string_view done) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) return;
  throw InputError(file.string() + ": cannot be " + std::string(done) +
                   ": the file is a pipe, a socket or a device; allowed: a regular file");
}

void require_no_database(const fs::path& file) {
  std::string of = file.string();
  for (const std::string_view suffix : {"-wal", "-shm", "-journal"}) {
    if (of.ends_with(suffix)) of.resize(of.size() - suffix.size());
  }
  if (!is_database(file) && !is_database(of)) return;
  throw InputError(file.string() + ": cannot be written: the file is a database, or a part of " +
                   of + "; name another file");
}

}  // namespace evo
