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
  /// the file (machine code, for example) cannot contain a text of OutputOwner::marks, which the
  /// last file of the set contains instead
  bool follows = false;
};

/// Rules for replacing existing files.
struct OutputOwner {
  std::string_view writer;  ///< "evo-export"
  /// texts that identify files of this program; a file with such a text near its beginning may be
  /// replaced
  std::vector<std::string_view> marks = {};
  bool force = false;  ///< the user asked to replace any file
  std::string_view remedy = "name another folder or file";
  bool makes_folders = false;  ///< whether missing folders are created
};

/// Whether `file`, perhaps compressed by gzip, contains a text of OutputOwner::marks near its
/// beginning.
[[nodiscard]] bool has_mark(const std::filesystem::path& file, const OutputOwner& owner);

/// Throws InputError unless `file` does not exist, contains a text of OutputOwner::marks (perhaps
/// compressed by gzip), or may be replaced by --force. Always throws for a database, a folder, a
/// pipe or a device. Programs call this before long work.
void require_replaceable(const std::filesystem::path& file, const OutputOwner& owner);

/// Writes the output files of a tool. Replaces a file only if it contains a text of
/// OutputOwner::marks, if OutputFile::follows is true and the last file contains one, or if the
/// user gave --force. Never replaces a database, a folder, a pipe or a device. Does not touch a
/// file that already has the content. Writes all other files under temporary names, then renames
/// them in order. If a file cannot be written, changes no file and throws InputError naming the
/// file.
void write_outputs(const std::vector<OutputFile>& files, const OutputOwner& owner);

}  // namespace evo
