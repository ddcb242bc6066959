#include "engine/intake/source_macros.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/core/names.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

using Names = std::set<std::string>;

/// True if `word`, from the condition of an #if, may be a macro of the source: no keyword, and no
/// macro of the compiler or the toolkit.
bool is_macro_name(const std::string& word) {
  // Keywords of conditions, and names that compilers and toolkits may define.
  constexpr std::array<std::string_view, 8> kNone = {
      "defined",        "true",         "false", "__has_include",
      "CUDART_VERSION", "CUDA_VERSION", "WIN32", "WIN64"};
  const bool is_reserved =
      word.find("__") != std::string::npos ||
      (word.size() > 1 && word[0] == '_' && std::isupper(static_cast<unsigned char>(word[1])) != 0);
  return is_identifier(word) && !is_reserved &&
         std::find(kNone.begin(), kNone.end(), word) == kNone.end();
}

class Collector {
 public:
  void read(const std::string& file, const std::string& text) {
    const std::vector<Directive> directives = directives_of(text);
    for (std::size_t i = 0; i < directives.size(); ++i) {
      const Directive& directive = directives[i];
      const std::string& name = directive.name;
      if (name == "define") {
        define(macro_in(directive));
      } else if (name == "if" || name == "elif") {
        take_condition(file, directive);
      } else if (name == "ifndef" && i + 1 < directives.size() &&
                 directives[i + 1].name == "define" && take_default(file, directives, i)) {
        ++i;
      } else if (name == "ifdef" || name == "ifndef" || name == "elifdef" || name == "elifndef") {
        ask(file, directive.line, macro_in(directive).name);
      }
    }
  }

  SourceMacros finish() {
    follow_replacements();
    for (const auto& [name, unused] : replacements_) {
      if (!found_.open.contains(name) || found_.open[name].default_value.empty()) {
        found_.defined.insert(name);
        found_.open.erase(name);
      }
    }
    for (const std::string& guard : guards_) found_.open.erase(guard);
    return std::move(found_);
  }

 private:
  void define(const MacroDefinition& macro) {
    Names& words = replacements_[macro.name];
    for (const std::string& word : cpp_words(macro.replacement)) {
      if (is_macro_name(word) && std::ranges::count(macro.parameters, word) == 0)
        words.insert(word);
    }
  }

  SourceMacro& seen(const std::string& file, std::size_t line, const std::string& name) {
    const auto [found, is_new] = found_.open.try_emplace(name);
    if (is_new) {
      found->second.file = file;
      found->second.line = line;
    }
    return found->second;
  }

  void ask(const std::string& file, std::size_t line, const std::string& name) {
    if (is_macro_name(name)) seen(file, line, name).is_asked_for = true;
  }

  /// Handles `#ifndef X` followed by `#define X`, which gives X a default or is an include guard.
  bool take_default(const std::string& file, const std::vector<Directive>& directives,
                    std::size_t i) {
    const MacroDefinition definition = macro_in(directives[i + 1]);
    if (definition.name != macro_in(directives[i]).name) return false;
    if (definition.replacement.empty()) {
      guards_.insert(definition.name);
      return true;
    }
    if (!is_macro_name(definition.name)) return true;
    SourceMacro& macro = seen(file, directives[i].line, definition.name);
    macro.default_value = definition.replacement;
    macro.is_asked_for = true;
    define(definition);
    return true;
  }

  void take_condition(const std::string& file, const Directive& directive) {
    const std::vector<std::string> words = cpp_words(directive.argument);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!is_macro_name(words[i])) continue;
      const bool asked = (i > 0 && words[i - 1] == "defined") ||
                         (i > 1 && words[i - 1] == "(" && words[i - 2] == "defined");
      SourceMacro& macro = seen(file, directive.line, words[i]);
      (asked ? macro.is_asked_for : macro.is_compared) = true;
    }
  }

  /// If #if compares a macro whose definition contains other macros, marks these macros as
  /// compared, too.
  void follow_replacements() {
    std::vector<std::string> open;
    for (const auto& [name, macro] : found_.open) {
      if (macro.is_compared) open.push_back(name);
    }
    Names done;
    while (!open.empty()) {
      const std::string name = open.back();
      open.pop_back();
      const auto replaced = replacements_.find(name);
      if (!done.insert(name).second || replaced == replacements_.end()) continue;
      const SourceMacro by = found_.open[name];
      for (const std::string& word : replaced->second) {
        seen(by.file, by.line, word).is_compared = true;
        open.push_back(word);
      }
    }
  }

  SourceMacros found_;
  std::map<std::string, Names> replacements_;  ///< #define NAME → the words of its definition
  Names guards_;
};

}  // namespace

SourceMacros macros_of(const KernelSource& source) {
  Collector collector;
  for (const auto& [name, text] : source.headers) collector.read(name, text);
  collector.read(source.name, source.text);
  return collector.finish();
}

}  // namespace evo
