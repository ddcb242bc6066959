#include "engine/compile/source_checks.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/compile/directives.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

using Macros = std::set<std::string>;
using Truth = std::optional<bool>;  ///< nothing: depends on more than what is given

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

/// One operand of a condition: defined(M), !defined M, 0, 1.
Truth truth_of_operand(std::string_view text, const Macros& macros) {
  if (text == "0") return false;
  if (text == "1") return true;
  const bool is_negated = text.starts_with("!");
  if (is_negated) text.remove_prefix(1);
  if (!text.starts_with("defined")) return std::nullopt;
  text.remove_prefix(std::string_view("defined").size());
  if (text.starts_with("(") && text.ends_with(")")) text = text.substr(1, text.size() - 2);
  if (!macros.contains(std::string(text))) return std::nullopt;
  return !is_negated;
}

/// A conjunction is false where one operand is; anything else is only known when it stands alone.
Truth truth_of(const std::string& condition, const Macros& macros) {
  const std::string dense = without_blanks(condition);
  if (dense.find("||") != std::string::npos || dense.find('?') != std::string::npos) {
    return std::nullopt;
  }
  bool all = true;
  std::size_t begin = 0;
  while (begin <= dense.size()) {
    const std::size_t end = std::min(dense.find("&&", begin), dense.size());
    const Truth operand =
        truth_of_operand(std::string_view(dense).substr(begin, end - begin), macros);
    if (operand == false) return false;
    all = all && operand.has_value();
    begin = end + 2;
  }
  return all ? Truth(true) : std::nullopt;
}

/// Of #if, #ifdef, #ifndef and their forms with el.
Truth truth_of(const Directive& directive, const Macros& macros) {
  if (directive.name == "if" || directive.name == "elif")
    return truth_of(directive.argument, macros);
  if (!macros.contains(first_word(directive.argument))) return std::nullopt;
  return directive.name == "ifdef" || directive.name == "elifdef";
}

/// The conditionals that a line is in.
class Conditionals {
 public:
  explicit Conditionals(const Macros& macros) : macros_(macros) {}

  void follow(const Directive& directive) {
    const std::string& name = directive.name;
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      const Truth truth = truth_of(directive, macros_);
      open_.push_back({truth == false, truth == true});
    } else if (name.starts_with("elif") && !open_.empty()) {
      const Truth truth = truth_of(directive, macros_);
      open_.back().is_dead = open_.back().is_decided || truth == false;
      open_.back().is_decided = open_.back().is_decided || truth == true;
    } else if (name == "else" && !open_.empty()) {
      open_.back().is_dead = open_.back().is_decided;
    } else if (name == "endif" && !open_.empty()) {
      open_.pop_back();
    }
  }

  [[nodiscard]] bool is_reached() const {
    return std::none_of(open_.begin(), open_.end(), [](const Branch& b) { return b.is_dead; });
  }

 private:
  struct Branch {
    bool is_dead = false;     ///< the branch is never compiled
    bool is_decided = false;  ///< it, or one before it, always is
  };

  const Macros& macros_;
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

/// What a text includes where the preprocessor may come by.
struct Included {
  std::vector<std::string> names;
  bool may_be_any = false;  ///< an #include whose name is not plain
};

Included check_text(const std::string& name, const std::string& text, const Macros& macros) {
  Conditionals conditionals(macros);
  Included included;
  for (const Directive& directive : directives_of(text)) {
    conditionals.follow(directive);
    if (!conditionals.is_reached()) continue;
    if (includes(directive)) {
      const std::optional<std::string> header = included_name(directive);
      if (header) included.names.push_back(*header);
      included.may_be_any = included.may_be_any || !header;
    }
    if (directive.name != "define" && directive.name != "undef") continue;
    const std::string macro = first_word(directive.argument);
    if (!macros.contains(macro)) continue;
    throw InputError(name + ":" + std::to_string(directive.line) + ": #" + directive.name + " " +
                     macro + ": the compiler is given this macro, and the kernel would run with " +
                     "another value than the configuration says; allowed is a default inside " +
                     "#ifndef " + macro);
  }
  return included;
}

}  // namespace

void require_macros_kept(const KernelSource& source, const std::set<std::string>& macros) {
  // Those that were not reached yet; the list grows while it is worked through.
  std::map<std::string, const std::string*> others;
  for (const auto& [name, text] : source.headers) others.emplace(name, &text);
  std::vector<std::pair<std::string, const std::string*>> reached = {{source.name, &source.text}};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto [name, text] = reached[i];
    Included included = check_text(name, *text, macros);
    if (included.may_be_any) {
      for (const auto& [header, unused] : others) included.names.push_back(header);
    }
    for (const std::string& header : included.names) {
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
