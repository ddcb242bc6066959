#include "engine/intake/copies.hpp"

#include <algorithm>

#include "engine/compile/standard_headers.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/temporary_folder.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

bool is_the_compilers(const std::string& name) {
  return stand_in_header(name) != nullptr ||
         std::ranges::any_of(toolkit_include_folders(), [&](const fs::path& folder) {
           return fs::is_regular_file(folder / name);
         });
}

class Collector {
 public:
  Collector(fs::path root, const std::vector<fs::path>& include_folders)
      : root_(std::move(root)), include_folders_(include_folders) {}

  /// Adds a file to copy, whose new path is its path relative to `folder`. `who`: the beginning of
  /// messages.
  void take(const fs::path& file, const fs::path& folder, const std::string& who) {
    const fs::path real = fs::weakly_canonical(file);
    const fs::path inside = fs::weakly_canonical(folder);
    const std::string place = real.lexically_relative(inside).string();
    if (place.starts_with("../")) {
      const std::string name = real.filename().string();
      throw InputError(who + ": lies outside of " + inside.string() +
                       ", whose headers are copied; write #include \"" + name + "\" and give -I " +
                       real.parent_path().string());
    }
    for (const auto& [known, taken] : copies) {
      if (fs::equivalent(known, file)) return;
      if (taken == place) {
        throw InputError(known.string() + " and " + file.string() + ": both would be copied to " +
                         place + "; rename one of them");
      }
    }
    copies.emplace_back(file, place);
    for (const Directive& directive : directives_of(read_text_file(file))) {
      const auto name = includes(directive) ? included_name(directive) : std::nullopt;
      if (!name) continue;
      take_included(*name, directive.argument[0] == '<', file.parent_path(), folder,
                    file.string() + ":" + std::to_string(directive.line) + ": #include " +
                        directive.argument);
    }
  }

  Copies copies;

 private:
  void take_included(const std::string& name, bool angled, const fs::path& beside,
                     const fs::path& folder, const std::string& who) {
    if (!angled && fs::is_regular_file(beside / name)) return take(beside / name, folder, who);
    if (fs::is_regular_file(root_ / name)) return take(root_ / name, root_, who);
    if (is_the_compilers(name)) return;
    for (const fs::path& other : include_folders_) {
      if (fs::is_regular_file(other / name)) return take(other / name, other, who);
    }
    // The compiler looks for <x.h>, which #if may exclude.
    if (angled) return;
    throw InputError(who + ": no such file in the folder of the including file or in " +
                     root_.string() + "; -I FOLDER names another folder of headers");
  }

  fs::path root_;
  const std::vector<fs::path>& include_folders_;
};

}  // namespace

Copies copies_of(const fs::path& kernel, const std::vector<fs::path>& include_folders) {
  for (const fs::path& folder : include_folders) {
    if (fs::is_directory(folder)) continue;
    throw InputError("-I " + folder.string() + ": there is no such folder");
  }
  Collector collector(kernel.parent_path(), include_folders);
  collector.take(kernel, kernel.parent_path(), kernel.string());
  return std::move(collector.copies);
}

KernelSource source_beside(const Copies& copies) {
  const fs::path& kernel = copies.front().first;
  const TemporaryFolder folder("evo-init");
  for (const auto& [from, to] : copies) {
    fs::create_directories((folder.path() / to).parent_path());
    fs::copy_file(from, folder.path() / to);
  }
  const fs::path place = fs::canonical(folder.path());
  try {
    return load_source(place / kernel.filename(), place, toolkit_include_folders());
  } catch (const InputError& error) {
    // Replaces the temporary folder in the error message by the folder of the user's kernel.
    std::string text = error.what();
    for (std::size_t at = 0; (at = text.find(place.string(), at)) != std::string::npos;) {
      text.replace(at, place.string().size(), kernel.parent_path().string());
    }
    throw InputError(text);
  }
}

}  // namespace evo
