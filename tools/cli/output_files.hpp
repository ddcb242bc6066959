#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A file that a tool writes for its user.
struct OutputFile {
  std::filesystem::path file;
  std::string content;
  /// the file cannot hold a mark (machine code, for example), so the set's last file has one
  bool follows = false;
};

/// Rules for replacing existing files.
struct OutputOwner {
  std::string_view writer;  ///< "evo-export"
  /// texts that identify files of this program: a file that has a mark near its beginning may be
  /// replaced
  std::vector<std::string_view> marks = {};
  bool force = false;  ///< the user asked to replace any file
  std::string_view remedy = "name another folder or file";
  bool makes_folders = false;  ///< whether missing folders are created
};

/// Throws InputError if the file exists without one of the marks (the file may be compressed). A
/// program calls require_replaceable() before long work.
void require_replaceable(const std::filesystem::path& file, const OutputOwner& owner);

/// Writes the output files of a tool. Replaces a file only if it already has the same content,
/// contains a mark, belongs to a set whose last file has a mark, or the user gave --force. Never
/// replaces a database, a folder, a pipe or a device. Writes all files under temporary names, then
/// renames them in order. If a file cannot be written, changes no file and throws InputError naming
/// the file.
void write_outputs(const std::vector<OutputFile>& files, const OutputOwner& owner);

}  // namespace evo
