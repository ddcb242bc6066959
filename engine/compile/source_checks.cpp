#include "engine/compile/source_checks.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/compile/directives.hpp"
#include "engine/compile/kept_macros.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

using Macros = std::set<std::string>;
using Truth = std::optional<bool>;  ///< nothing: the compiler knows more

std::string first_word(std::string_view text) {
  const auto end = std::find_if_not(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return {text.begin(), end};
}

std::string without_blanks(std::string_view text) {
  std::string dense;
  std::copy_if(text.begin(), text.end(), std::back_inserter(dense),
               [](unsigned char c) { return std::isspace(c) == 0; });
  return dense;
}

/// Macros that are defined, and those that may be.
struct Known {
  Macros given;
  Macros maybe;              ///< the source defines them somewhere
  bool has_foreign = false;  ///< it includes what nobody read here
};

Truth negated(Truth truth) { return truth ? Truth(!*truth) : std::nullopt; }

Truth any_of(Truth a, Truth b) {
  if (a == true || b == true) return true;
  return a && b ? Truth(false) : std::nullopt;
}

Truth is_defined(const std::string& macro, const Known& known) {
  if (known.given.contains(macro)) return true;
  const bool is_open = known.has_foreign || known.maybe.contains(macro) || macro.starts_with("_");
  return is_open ? std::nullopt : Truth(false);
}

/// One operand of a condition: defined(M), !defined M, 0, 1.
Truth truth_of_operand(std::string_view text, const Known& known) {
  if (text == "0") return false;
  if (text == "1") return true;
  const bool is_negated = text.starts_with("!");
  if (is_negated) text.remove_prefix(1);
  if (!text.starts_with("defined")) return std::nullopt;
  text.remove_prefix(std::string_view("defined").size());
  if (text.starts_with("(") && text.ends_with(")")) text = text.substr(1, text.size() - 2);
  if (text != first_word(text)) return std::nullopt;
  const Truth truth = is_defined(std::string(text), known);
  return is_negated ? negated(truth) : truth;
}

/// A conjunction is false where one operand is.
Truth truth_of(const std::string& condition, const Known& known) {
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

/// Of #if, #ifdef, #ifndef and their forms with el.
Truth truth_of(const Directive& directive, const Known& known) {
  if (directive.name == "if" || directive.name == "elif") {
    return truth_of(directive.argument, known);
  }
  const Truth truth = is_defined(first_word(directive.argument), known);
  return directive.name == "ifdef" || directive.name == "elifdef" ? truth : negated(truth);
}

/// The conditionals that a line is in.
class Conditionals {
 public:
  explicit Conditionals(const Known& known) : known_(known) {}

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

  /// For certain.
  [[nodiscard]] bool is_reached() const {
    return std::ranges::all_of(open_, [](const Branch& branch) { return branch.now == true; });
  }

 private:
  struct Branch {
    Truth now;
    Truth before;  ///< whether an earlier branch was taken
  };

  const Known& known_;
  std::vector<Branch> open_;
};

/// The text without what only people read.
std::string without_comments(const std::string& text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    std::size_t skipped = 0;
    if (rest.starts_with("//")) skipped = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with("/*")) skipped = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    code += skipped > 0 ? ' ' : rest[0];
    at += std::max<std::size_t>(skipped, 1);
  }
  return code;
}

void add_words(const std::string& text, Macros& words) {
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const std::string code = without_comments(text);
  for (auto at = code.begin(); at != code.end();) {
    const auto begin = std::find_if(at, code.end(), is_part);
    at = std::find_if_not(begin, code.end(), is_part);
    words.emplace(begin, at);
  }
}

/// Throws InputError for the first change of one of `kept`; what the text includes for certain.
std::vector<std::string> check_text(const std::string& name, const std::string& text,
                                    const Macros& kept, const Known& known) {
  Conditionals conditionals(known);
  std::vector<std::string> included;
  for (const Directive& directive : directives_of(text)) {
    conditionals.follow(directive);
    if (!conditionals.is_reached()) continue;
    if (includes(directive)) {
      if (const auto header = included_name(directive)) included.push_back(*header);
    }
    if (directive.name != "define" && directive.name != "undef") continue;
    const std::string macro = first_word(directive.argument);
    if (!kept.contains(macro)) continue;
    throw InputError(name + ":" + std::to_string(directive.line) + ": #" + directive.name + " " +
                     macro + ": the compiler is given this macro, and the kernel would run with " +
                     "another value than the configuration says; allowed is a default inside " +
                     "#ifndef " + macro + ", or inside a switch that a -D option of " +
                     "\"compiler_options\" turns off");
  }
  return included;
}

void add_defined(const std::string& text, Macros& defined) {
  for (const Directive& directive : directives_of(text)) {
    if (directive.name == "define") defined.insert(first_word(directive.argument));
  }
}

}  // namespace

void require_macros_kept(const KernelSource& source, const std::set<std::string>& macros,
                         const std::vector<std::string>& options) {
  Known known{macros, {}, !source.outside.empty()};
  for (const auto& [name, value] : given_macros(options)) known.given.insert(name);
  add_defined(source.text, known.maybe);
  // Those that were not reached yet; the list grows while it is worked through.
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
      if (found == others.end()) continue;  // reached before, or the compiler finds it
      reached.emplace_back(*found);
      others.erase(found);
    }
  }
}

std::vector<std::string> macros_never_read(const KernelSource& source,
                                           const std::vector<std::string>& macros) {
  Macros words;
  add_words(source.text, words);
  bool pastes = source.text.find("##") != std::string::npos;
  for (const auto& [name, text] : source.headers) {
    add_words(text, words);
    pastes = pastes || text.find("##") != std::string::npos;
  }
  std::vector<std::string> unread;
  if (pastes) return unread;
  std::copy_if(macros.begin(), macros.end(), std::back_inserter(unread),
               [&](const std::string& macro) { return !words.contains(macro); });
  return unread;
}

}  // namespace evo
