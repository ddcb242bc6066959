#include "engine/core/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

struct Place {
  std::string variable = "TMPDIR";
  std::filesystem::path folder = "/tmp";
};

/// Reads the same environment variables as std::filesystem::temp_directory_path(), in the same
/// order.
Place named_place() {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const auto folder = environment_variable(variable)) return {variable, *folder};
  }
  return {};
}

[[noreturn]] void fail(const Place& place, const std::string& why) {
  throw InputError(place.variable + ": '" + place.folder.string() + "': " + why +
                   "; allowed: a folder in which you may create files");
}

}  // namespace

std::filesystem::path temporary_place() {
  const Place place = named_place();
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(place.folder, error);
  if (error) fail(place, error.message());
  if (!is_folder) fail(place, "is no folder");
  // The path is absolute, because child processes run in other folders.
  const std::filesystem::path whole = std::filesystem::absolute(place.folder, error);
  if (error) fail(place, error.message());
  return whole;
}

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::string pattern = (temporary_place() / (name + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) fail(named_place(), std::strerror(errno));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace evo
