#include "engine/compile/source.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/standard_headers.hpp"
#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kDeepest = 200;  // compilers have the same limit

bool is_pragma_once(const Directive& directive) {
  return directive.name == "pragma" && directive.argument == "once";
}

/// A standard header that a source may use without including it, because the host's standard
/// headers include it.
struct BroughtAlong {
  std::string_view name;
  std::vector<std::string_view> of_it;  ///< words, or beginnings of words, whose use requires this
                                        ///< header
};
const std::array<BroughtAlong, 2> kBroughtAlong = {
    {{"limits", {"numeric_limits"}},
     {"type_traits",
      {"is_", "common_type", "enable_if", "conditional", "remove_", "decay", "make_unsigned",
       "make_signed", "integral_constant", "true_type", "false_type", "underlying_type"}}}};

class Loader {
 public:
  Loader(const fs::path& root, const std::vector<fs::path>& include_folders)
      : root_(fs::weakly_canonical(root)), include_folders_(include_folders) {}

  KernelSource load(const fs::path& file) {
    KernelSource source;
    source.name = file.filename().string();
    source.text = read(file, file.string());
    collect(source.text, file.parent_path(), file.string(), source);
    for (const BroughtAlong& header : kBroughtAlong) take_brought_along(header, source);
    return source;
  }

 private:
  /// The host's standard headers include one another, and some sources rely on this. If `source`
  /// uses names of `header` without including it, the first standard header that `source` includes
  /// is therefore extended by an #include of `header`.
  void take_brought_along(const BroughtAlong& header, KernelSource& source) {
    const std::string name(header.name);
    if (files_.contains(name) || !is_in_include_folder("cuda/std/" + name)) return;
    const auto first = std::ranges::find_if(source.headers, [](const auto& taken) {
      const std::string* const text = stand_in_header(taken.first);
      return text != nullptr && *text == taken.second &&
             taken.second.starts_with("namespace std {");
    });
    if (first == source.headers.end()) return;
    const auto uses = [&](const std::string& text) {
      return std::ranges::any_of(header.of_it, [&](std::string_view word) {
        return text.find("std::" + std::string(word)) != std::string::npos;
      });
    };
    if (!uses(source.text) && std::ranges::none_of(source.headers, [&](const auto& taken) {
          return uses(taken.second) && stand_in_header(taken.first) == nullptr;
        })) {
      return;
    }
    first->second += "#include <" + name + ">\n";
    take_stand_in(name, *stand_in_header(name), source);
  }

  /// `who`: the beginning of messages, which names file, line and include.
  [[nodiscard]] std::string read(const fs::path& file, const std::string& who) const {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    if (!error && !is_inside(real, root_)) {
      throw InputError(who + ": lies outside of " + root_.string() +
                       "; sources and the files that they include must lie inside");
    }
    if (!error && !fs::is_regular_file(real)) throw InputError(who + ": is no regular file");
    if (!error && fs::file_size(real, error) > kMostBytes) {
      throw InputError(who + ": is larger than 16 MiB, the allowed maximum");
    }
    std::string text = read_text_file(file);
    if (text.find('\0') != std::string::npos) throw InputError(who + ": holds a NUL character");
    if (text.starts_with("\xef\xbb\xbf")) {
      throw InputError(who + ": begins with a byte order mark; allowed: UTF-8 without it");
    }
    return text;
  }

  void collect(const std::string& text, const fs::path& folder, const std::string& includer,
               KernelSource& source) {
    for (const Directive& directive : directives_of(text)) {
      if (!includes(directive)) continue;
      const std::string who = includer + ":" + std::to_string(directive.line) + ": #" +
                              directive.name + " " + directive.argument;
      const std::optional<std::string> name = included_name(directive);
      if (!name || directive.name != "include") {
        throw InputError(who + ": allowed: #include with the name of a file");
      }
      take(*name, directive.argument[0] == '<', folder, who, source);
    }
  }

  void take(const std::string& name, bool angled, const fs::path& folder, const std::string& who,
            KernelSource& source) {
    fs::path file = find(name, angled, folder);
    // `#include <x.h>` may name a file of the problem, because an include path such as `-I .` may
    // name the problem's folder.
    const bool is_known = stand_in_header(name) != nullptr || is_in_include_folder(name);
    if (file.empty() && angled && !is_known) file = find(name, false, folder);
    if (file.empty()) {
      const std::string* text = stand_in_header(name);
      if (text != nullptr && (replaces_toolkit_header(name) || !is_in_include_folder(name))) {
        take_stand_in(name, *text, source);
        return;
      }
      if (angled || is_in_include_folder(name)) {  // the compiler finds this file
        source.outside.push_back(name);
        return;
      }
      throw InputError(who + ": no such file in the folder of the including file or in " +
                       root_.string());
    }
    const fs::path real = fs::weakly_canonical(file);
    const auto [known, added] = files_.emplace(name, real);
    if (known->second != real) {
      throw InputError(who + ": is " + known->second.string() + " for one file and " +
                       real.string() + " for another; give the files different names");
    }
    if (!added) return;
    source.headers.emplace_back(name, read(file, who));
    collect(std::string(source.headers.back().second), file.parent_path(), file.string(), source);
  }

  void take_stand_in(const std::string& name, const std::string& text, KernelSource& source) {
    if (!files_.emplace(name, fs::path()).second) return;
    source.headers.emplace_back(name, text);
    for (const Directive& directive : directives_of(text)) {
      if (includes(directive)) source.outside.push_back(*included_name(directive));
    }
  }

  /// The path of the included file in `folder`, which is the folder of the including file (not for
  /// `angled` includes, <x>), or else in `root_`; empty if there is no such file. An unreadable
  /// file's path is returned, so that the error names the file.
  [[nodiscard]] fs::path find(const std::string& name, bool angled, const fs::path& folder) const {
    std::error_code ignored;
    const auto is_there = [&](const fs::path& file) {
      return fs::exists(file, ignored) && !fs::is_directory(file, ignored);
    };
    if (!angled && is_there(folder / name)) return folder / name;
    return is_there(root_ / name) ? root_ / name : fs::path();
  }

  [[nodiscard]] bool is_in_include_folder(const std::string& name) const {
    std::error_code ignored;
    return std::any_of(include_folders_.begin(), include_folders_.end(), [&](const fs::path& path) {
      return fs::is_regular_file(path / name, ignored);
    });
  }

  fs::path root_;
  const std::vector<fs::path>& include_folders_;
  std::map<std::string, fs::path> files_;
};

/// Whether a second inclusion of the file has no effect, because of `#pragma once` or an include
/// guard around the whole file.
bool is_guarded(const std::vector<Directive>& directives) {
  if (directives.empty()) return false;
  if (is_pragma_once(directives.front())) return true;
  if (directives.size() < 3 || directives[0].name != "ifndef" || directives[1].name != "define") {
    return false;
  }
  const std::string& macro = directives[0].argument;
  const std::string& defined = directives[1].argument;
  const bool same = defined == macro || defined.starts_with(macro + " ");
  return same && directives.back().name == "endif";
}

std::string line_directive(std::size_t line, const std::string& name) {
  std::string quoted;
  for (const char c : name)
    quoted += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
  return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
}

class Expander {
 public:
  explicit Expander(const KernelSource& source) : source_(source) {}

  std::string run() {
    expand(source_.name, source_.text);
    return std::move(output_);
  }

 private:
  void expand(const std::string& name, const std::string& text) {
    const std::vector<Directive> directives = directives_of(text);
    if (std::find(open_.begin(), open_.end(), name) != open_.end()) {
      if (is_guarded(directives)) return;
      throw InputError(
          "\"" + name +
          "\" includes itself; #pragma once or an include guard at its top prevents this");
    }
    if (open_.size() == kDeepest)
      throw InputError("\"" + name + "\": includes are nested too deep");
    open_.push_back(name);
    const bool once = std::any_of(directives.begin(), directives.end(), is_pragma_once);
    const std::string macro = "EVO_ONCE_" + content_key(name).substr(0, 16);
    if (once) append("#ifndef " + macro + "\n");
    append(line_directive(1, name));
    std::size_t at = 0;
    const int conditions = conditions_;
    for (const Directive& directive : directives) {
      if (directive.name.starts_with("if")) ++conditions_;
      if (directive.name == "endif") --conditions_;
      const std::string* header = included(directive);
      if (header == nullptr && !is_pragma_once(directive)) continue;
      append(std::string_view(text).substr(at, directive.begin - at));
      at = directive.end;
      if (header == nullptr) {
        append("#define " + macro + "\n");
        if (conditions_ == 0) done_.insert(name);
      } else if (!done_.contains(*included_name(directive))) {
        expand(*included_name(directive), *header);
      }
      append(line_directive(directive.line + directive.lines, name));
    }
    conditions_ = conditions;
    append(std::string_view(text).substr(std::min(at, text.size())));
    end_line();
    if (once) append("#endif\n");
    open_.pop_back();
  }

  void append(std::string_view text) {
    if (output_.size() + text.size() > kMostBytes) {
      throw InputError(source_.name +
                       ": together with its includes, the source exceeds 16 MiB, the maximum");
    }
    output_ += text;
  }
  void end_line() {
    if (!output_.empty() && output_.back() != '\n') output_ += '\n';
  }

  /// The text that replaces an #include; null for other directives and for headers that the
  /// compiler finds itself.
  [[nodiscard]] const std::string* included(const Directive& directive) const {
    if (!includes(directive)) return nullptr;
    const std::optional<std::string> name = included_name(directive);
    for (const auto& [known, text] : source_.headers) {
      if (name && known == *name) return &text;
    }
    return nullptr;
  }

  const KernelSource& source_;
  std::vector<std::string> open_;  ///< the files that are being expanded, outermost first
  int conditions_ = 0;             ///< number of `#if`s that are open at the current position
  /// files whose `#pragma once` was met unconditionally, so that they are not expanded again
  std::set<std::string> done_;
  std::string output_;
};

}  // namespace

std::string KernelSource::expanded() const { return Expander(*this).run(); }

KernelSource load_source(const fs::path& file, const fs::path& root,
                         const std::vector<fs::path>& include_folders) {
  return Loader(root, include_folders).load(file);
}

}  // namespace evo
