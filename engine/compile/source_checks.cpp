#include "engine/compile/source_checks.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/compile/kept_macros.hpp"
#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

using Macros = std::set<std::string>;
using Truth = std::optional<bool>;  ///< nullopt: only the compiler can evaluate the condition

std::string without_blanks(std::string_view text) {
  std::string dense;
  std::copy_if(text.begin(), text.end(), std::back_inserter(dense),
               [](unsigned char c) { return std::isspace(c) == 0; });
  return dense;
}

/// Macros that are defined in every compilation of the source, and macros that may be defined.
struct KnownMacros {
  Macros given;
  Macros maybe;              ///< defined somewhere in the source
  bool has_foreign = false;  ///< whether the source includes files that are not read here
};

Truth negated(Truth truth) { return truth ? Truth(!*truth) : std::nullopt; }

Truth any_of(Truth a, Truth b) {
  if (a == true || b == true) return true;
  return a && b ? Truth(false) : std::nullopt;
}

Truth is_defined(const std::string& macro, const KnownMacros& known) {
  if (known.given.contains(macro)) return true;
  const bool is_open = known.has_foreign || known.maybe.contains(macro) || macro.starts_with("_");
  return is_open ? std::nullopt : Truth(false);
}

/// The truth of an operand in the condition of an #if: defined(M), !defined M, 0 or 1.
Truth truth_of_operand(std::string_view text, const KnownMacros& known) {
  if (text == "0") return false;
  if (text == "1") return true;
  const bool is_negated = text.starts_with("!");
  if (is_negated) text.remove_prefix(1);
  if (!text.starts_with("defined")) return std::nullopt;
  text.remove_prefix(std::string_view("defined").size());
  if (text.starts_with("(") && text.ends_with(")")) text = text.substr(1, text.size() - 2);
  if (!is_identifier(text)) return std::nullopt;
  const Truth truth = is_defined(std::string(text), known);
  return is_negated ? negated(truth) : truth;
}

/// The truth of an #if condition whose operands are joined by &&: false if one operand is false;
/// nullopt if the condition contains || or ?.
Truth truth_of(const std::string& condition, const KnownMacros& known) {
  const std::string dense = without_blanks(condition);
  if (dense.find("||") != std::string::npos || dense.find('?') != std::string::npos) {
    return std::nullopt;
  }
  Truth some_false = false;
  std::size_t begin = 0;
  while (begin <= dense.size()) {
    const std::size_t end = std::min(dense.find("&&", begin), dense.size());
    const auto operand = std::string_view(dense).substr(begin, end - begin);
    some_false = any_of(some_false, negated(truth_of_operand(operand, known)));
    begin = end + 2;
  }
  return negated(some_false);
}

/// The truth of the condition of #if, #ifdef, #ifndef or one of their #elif forms.
Truth truth_of(const Directive& directive, const KnownMacros& known) {
  if (directive.name == "if" || directive.name == "elif") {
    return truth_of(directive.argument, known);
  }
  const Truth truth = is_defined(macro_in(directive).name, known);
  return directive.name == "ifdef" || directive.name == "elifdef" ? truth : negated(truth);
}

/// The stack of conditional directives around a line.
class Conditionals {
 public:
  explicit Conditionals(const KnownMacros& known) : known_(known) {}

  void follow(const Directive& directive) {
    const std::string& name = directive.name;
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      open_.push_back({truth_of(directive, known_), false});
    } else if ((name.starts_with("elif") || name == "else") && !open_.empty()) {
      Branch& branch = open_.back();
      branch.before = any_of(branch.before, branch.now);
      const Truth own = name == "else" ? Truth(true) : truth_of(directive, known_);
      branch.now = negated(any_of(branch.before, negated(own)));
    } else if (name == "endif" && !open_.empty()) {
      open_.pop_back();
    }
  }

  /// Whether the current line is compiled for all values of the macros.
  [[nodiscard]] bool is_reached() const {
    return std::ranges::all_of(open_, [](const Branch& branch) { return branch.now == true; });
  }

 private:
  struct Branch {
    Truth now;
    Truth before;  ///< whether an earlier branch was taken
  };

  const KnownMacros& known_;
  std::vector<Branch> open_;
};

/// Adds all names in `text` to `names`, except those in comments. Names in strings are added
/// because a string may be the argument of _Pragma.
void add_names(const std::string& text, Macros& names) {
  const CppText cpp = tokenize(text);
  for (const CppWord& word : cpp.words) names.merge(names_in(word.text));
  for (const Directive& directive : cpp.directives) names.merge(names_in(directive.argument));
}

/// Throws InputError for the first line that, for all values of the macros, defines or undefines
/// one of the macros `kept`. Returns the files that `text` includes for all values of the macros.
std::vector<std::string> check_text(const std::string& name, const std::string& text,
                                    const Macros& kept, const KnownMacros& known) {
  Conditionals conditionals(known);
  std::vector<std::string> included;
  for (const Directive& directive : directives_of(text)) {
    conditionals.follow(directive);
    if (!conditionals.is_reached()) continue;
    if (includes(directive)) {
      if (const auto header = included_name(directive)) included.push_back(*header);
    }
    if (directive.name != "define" && directive.name != "undef") continue;
    const std::string macro = macro_in(directive).name;
    if (!kept.contains(macro)) continue;
    throw InputError(
        name + ":" + std::to_string(directive.line) + ": #" + directive.name + " " + macro +
        ": the configuration sets this macro, and this line changes it, so the kernel " +
        "would not match its configuration; allowed: a default inside " + "#ifndef " + macro +
        ", or inside an #if that a -D option of " + "\"compiler_options\" turns off");
  }
  return included;
}

void add_defined(const std::string& text, Macros& defined) {
  for (const Directive& directive : directives_of(text)) {
    if (directive.name == "define") defined.insert(macro_in(directive).name);
  }
}

}  // namespace

void require_macros_kept(const KernelSource& source, const std::set<std::string>& macros,
                         const std::vector<std::string>& options) {
  KnownMacros known{macros, {}, !source.outside.empty()};
  for (const auto& [name, value] : given_macros(options)) known.given.insert(name);
  add_defined(source.text, known.maybe);
  // `reached` holds the files that are included for all values of the macros; `others` holds the
  // remaining files. The loop moves files from `others` to `reached`.
  std::map<std::string, const std::string*> others;
  for (const auto& [name, text] : source.headers) {
    others.emplace(name, &text);
    add_defined(text, known.maybe);
  }
  std::vector<std::pair<std::string, const std::string*>> reached = {{source.name, &source.text}};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto [name, text] = reached[i];
    for (const std::string& header : check_text(name, *text, macros, known)) {
      const auto found = others.find(header);
      if (found == others.end()) continue;  // the file was reached before, or the compiler finds it
      reached.emplace_back(*found);
      others.erase(found);
    }
  }
}

std::vector<std::string> macros_never_read(const KernelSource& source,
                                           const std::vector<std::string>& macros) {
  Macros names;
  add_names(source.text, names);
  bool pastes = source.text.find("##") != std::string::npos;
  for (const auto& [name, text] : source.headers) {
    add_names(text, names);
    pastes = pastes || text.find("##") != std::string::npos;
  }
  std::vector<std::string> unread;
  if (pastes) return unread;
  std::copy_if(macros.begin(), macros.end(), std::back_inserter(unread),
               [&](const std::string& macro) { return !names.contains(macro); });
  return unread;
}

}  // namespace evo
