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
  bool follows = false;  ///< cannot carry a mark, as machine code: belongs to the last of its set
};

/// Whose files a tool may replace.
struct OutputOwner {
  std::string_view writer;                   ///< "evo-export"
  std::vector<std::string_view> marks = {};  ///< one of them is near the beginning of its files
  bool force = false;                        ///< the user asked to replace whatever is there
  std::string_view remedy = "allowed is another folder or name";
  bool makes_folders = false;  ///< for files whose folder is the user's to name
};

/// Throws InputError naming the file unless it is missing or has one of the marks, packed or not.
/// To be asked before long work.
void require_replaceable(const std::filesystem::path& file, const OutputOwner& owner);

/// The one way in which a tool writes files. Replaces a file only when it has the same content
/// already, has a mark, follows a last file with a mark, or the user forces it; a database, a
/// folder, a pipe and a device never. Writes all files beside their places before the first one is
/// renamed, the last one last. Throws InputError naming the file, and leaves all as it was.
void write_outputs(const std::vector<OutputFile>& files, const OutputOwner& owner);

}  // namespace evo
