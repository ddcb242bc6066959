#include "tools/cli/output_files.hpp"

#include <algorithm>
#include <system_error>

#include "engine/core/error.hpp"
#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/protected_file.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(fs::symlink_status(file, error));
}

[[noreturn]] void refuse(const fs::path& file, const OutputOwner& owner) {
  // Without marks, the writer of the file is unknown.
  const std::string why =
      owner.marks.empty() ? "" : ", and " + std::string(owner.writer) + " did not write it";
  throw InputError(file.string() + ": file exists" + why + "; " + std::string(owner.remedy));
}

bool has_content(const fs::path& file, const std::string& content) {
  std::error_code error;
  return is_file(file) && fs::file_size(file, error) == content.size() &&
         read_text_file(file) == content;
}

}  // namespace

bool has_mark(const fs::path& file, const OutputOwner& owner) {
  constexpr std::size_t kNearTheBeginning = 4096;
  if (owner.marks.empty() || !is_file(file)) return false;
  std::string text;
  try {
    text = read_plain_or_gzip(file);
  } catch (const InputError&) {
    return false;  // the file begins like a gzip file but is not one
  }
  const std::string_view start = std::string_view(text).substr(0, kNearTheBeginning);
  return std::ranges::any_of(owner.marks, [&](std::string_view mark) {
    return start.find(mark) != std::string_view::npos;
  });
}

void require_replaceable(const fs::path& file, const OutputOwner& owner) {
  require_no_special_file(file, "written");
  require_no_database(file);
  std::error_code error;
  if (fs::is_directory(file, error)) {
    throw InputError(file.string() + ": cannot be written: it is a folder");
  }
  if (is_there(file) && !owner.force && !has_mark(file, owner)) refuse(file, owner);
}

void write_outputs(const std::vector<OutputFile>& files, const OutputOwner& owner) {
  if (files.empty()) return;
  const bool is_own_set = has_mark(files.back().file, owner);
  std::vector<NewFile> changed;
  for (const OutputFile& output : files) {
    if (has_content(output.file, output.content)) continue;
    if (!(output.follows && is_own_set)) require_replaceable(output.file, owner);
    changed.push_back({output.file, output.content});
  }
  for (const NewFile& file : changed) {
    std::error_code error;
    if (owner.makes_folders) fs::create_directories(file.file.parent_path(), error);
    if (error) throw InputError(file.file.string() + ": cannot be written: " + error.message());
    const fs::path folder = file.file.parent_path();
    if (!folder.empty() && !fs::exists(folder, error)) {
      throw InputError(file.file.string() + ": cannot be written: there is no folder '" +
                       folder.string() + "'");
    }
  }
  write_files(changed);
}

}  // namespace evo
