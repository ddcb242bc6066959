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
  /// cannot contain a mark, for example machine code; it belongs to the last file of its set
  bool follows = false;
};

/// Rules for replacing existing files.
struct OutputOwner {
  std::string_view writer;  ///< "evo-export"
  /// files that contain one of these marks near the beginning
  std::vector<std::string_view> marks = {};
  bool force = false;  ///< the user asked to replace any file
  std::string_view remedy = "name another folder or file";
  bool makes_folders = false;  ///< for files in a folder that the user names
};

/// Throws InputError naming the file unless it is missing or contains one of the marks, compressed
/// or not. Call it before long work.
void require_replaceable(const std::filesystem::path& file, const OutputOwner& owner);

/// The function by which tools write files. Replaces a file only if it already has the same
/// content, contains a mark, belongs to a set whose last file has a mark, or the user forces it.
/// Never replaces a database, a folder, a pipe or a device. Writes all files under temporary names,
/// then renames them, the last one last. Throws InputError naming the file, and then changes
/// nothing.
void write_outputs(const std::vector<OutputFile>& files, const OutputOwner& owner);

}  // namespace evo
