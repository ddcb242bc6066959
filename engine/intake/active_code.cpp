#include "engine/intake/active_code.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/names.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

constexpr int kDeepest = 16;  ///< limit of nested macro expansions

/// True for macros of the compiler or of CUDA's headers, whose values are unknown before the
/// compilation.
bool is_foreign(const std::string& name) {
  return name.starts_with("_") || name.starts_with("CUDA") || name.starts_with("CUB_");
}

class Preprocessor {
 public:
  explicit Preprocessor(const MacroTexts& macros)
      : given_(macros), macros_(macros.begin(), macros.end()) {}

  std::string read(const std::string& text) {
    branches_.clear();
    std::string active = text;
    std::size_t at = 0;
    for (const Directive& directive : directives_of(text)) {
      if (!is_active()) blank(active, at, directive.begin);
      take(directive);
      at = directive.end;
    }
    if (!is_active()) blank(active, at, text.size());
    return active;
  }

 private:
  enum class Answer { kNo, kYes, kUnknown };
  struct Branch {
    Answer now = Answer::kUnknown;
    Answer before = Answer::kNo;  ///< kYes: an earlier branch was taken
    bool is_last = false;         ///< this branch is taken if no earlier branch was
  };

  static void blank(std::string& text, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && at < text.size(); ++at) {
      if (text[at] != '\n') text[at] = ' ';
    }
  }

  [[nodiscard]] bool is_active() const {
    for (const Branch& branch : branches_) {
      if (branch.now == Answer::kNo) return false;
    }
    return true;
  }

  void take(const Directive& directive) {
    const std::string& name = directive.name;
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      branches_.push_back({answer(directive)});
    } else if (name == "endif") {
      if (!branches_.empty()) branches_.pop_back();
    } else if (name == "else" || name.starts_with("elif")) {
      if (!branches_.empty()) next(branches_.back(), directive);
    } else if (name == "define" && is_active()) {
      define(macro_in(directive));
    } else if (name == "undef" && is_active()) {
      macros_.erase(macro_in(directive).name);
    }
  }

  /// Moves from one branch of an #if to the next: #elif or #else.
  void next(Branch& branch, const Directive& directive) {
    if (branch.is_last) branch.before = Answer::kYes;
    if (branch.before != Answer::kYes && branch.now != Answer::kNo) branch.before = branch.now;
    const Answer own = directive.name == "else" ? Answer::kYes : answer(directive);
    if (branch.before == Answer::kYes || own == Answer::kNo) {
      branch.now = Answer::kNo;
      return;
    }
    branch.now = branch.before == Answer::kUnknown ? Answer::kUnknown : own;
    branch.is_last = own == Answer::kYes;
  }

  void define(const MacroDefinition& macro) {
    // Ignores a #define of a macro that has a value from -D, because such a #define is usually
    // inside an #ifndef.
    if (given_.contains(macro.name)) return;
    macros_[macro.name] = macro.is_function ? std::nullopt : std::optional(macro.replacement);
  }

  [[nodiscard]] Answer answer(const Directive& directive) const {
    const std::string& name = directive.name;
    if (name == "if" || name == "elif") return answer(directive.argument);
    const std::string macro = macro_in(directive).name;
    const Answer is_there = macro.empty() ? Answer::kUnknown : is_defined(macro);
    if (is_there == Answer::kUnknown || name == "ifdef" || name == "elifdef") return is_there;
    return is_there == Answer::kYes ? Answer::kNo : Answer::kYes;
  }

  [[nodiscard]] Answer is_defined(const std::string& name) const {
    if (macros_.contains(name)) return Answer::kYes;
    return is_foreign(name) ? Answer::kUnknown : Answer::kNo;
  }

  [[nodiscard]] Answer answer(const std::string& condition) const {
    std::string text;
    if (!replace(condition, 0, text)) return Answer::kUnknown;
    try {
      const Expression expression(text);
      return expression.evaluate(std::map<std::string, double>()) != 0 ? Answer::kYes : Answer::kNo;
    } catch (const InputError&) {
      return Answer::kUnknown;
    }
  }

  /// Appends `condition` to `text`, with macros replaced by their values; false if a value is
  /// unknown.
  bool replace(const std::string& condition, int depth, std::string& text) const {
    const std::vector<std::string> words = cpp_words(condition);
    if (depth == kDeepest) return false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "defined") {
        const bool in_brackets = i + 3 < words.size() && words[i + 1] == "(";
        i += in_brackets ? 2 : 1;
        const Answer found = i < words.size() ? is_defined(words[i]) : Answer::kUnknown;
        if (found == Answer::kUnknown) return false;
        text += found == Answer::kYes ? " 1 " : " 0 ";
        i += in_brackets ? 1 : 0;
      } else if (is_identifier(word) && word != "true" && word != "false") {
        const auto known = macros_.find(word);
        if (known == macros_.end() ? is_foreign(word) : !known->second) return false;
        text += "(";
        if (known == macros_.end() || cpp_words(*known->second).empty()) {
          text += "0";
        } else if (!replace(*known->second, depth + 1, text)) {
          return false;
        }
        text += ")";
      } else {
        text += word;  // cpp_words() splits an operator such as && into two words
      }
    }
    return true;
  }

  const MacroTexts& given_;
  std::map<std::string, std::optional<std::string>> macros_;  ///< nullopt: a function-like macro
  std::vector<Branch> branches_;
};

}  // namespace

KernelSource active_code(KernelSource source, const MacroTexts& macros) {
  Preprocessor preprocessor(macros);
  for (auto& [name, text] : source.headers) text = preprocessor.read(text);
  source.text = preprocessor.read(source.text);
  return source;
}

}  // namespace evo
