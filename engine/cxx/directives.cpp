#include "engine/cxx/directives.hpp"

#include <algorithm>

#include "engine/core/names.hpp"

namespace evo {

bool includes(const Directive& directive) {
  return directive.name == "include" || directive.name == "include_next" ||
         directive.name == "import";
}

std::optional<std::string> included_name(const Directive& directive) {
  const std::string& text = directive.argument;
  if (text.size() < 2 || (text[0] != '"' && text[0] != '<')) return std::nullopt;
  const std::size_t end = text.find(text[0] == '<' ? '>' : '"', 1);
  if (end == std::string::npos || end == 1) return std::nullopt;
  return text.substr(1, end - 1);
}

MacroDefinition macro_in(const Directive& directive) {
  const std::string& text = directive.argument;
  const std::vector<CppWord> words = tokenize(text).words;
  if (words.empty() || !is_identifier(words.front().text)) return {};
  MacroDefinition macro{words.front().text};
  std::size_t end = words.front().end;
  // The parameters of a function-like macro follow its name without a space; after a space, a
  // parenthesis belongs to the replacement text.
  macro.is_function = end < text.size() && text[end] == '(';
  if (macro.is_function) {
    const std::size_t close = std::min(text.find(')', end), text.size());
    for (const CppWord& word : words) {
      if (word.begin <= end || word.begin >= close || !is_identifier(word.text)) continue;
      macro.parameters.push_back(word.text);
    }
    end = std::min(close + 1, text.size());
  }
  macro.replacement = text.substr(std::min(text.find_first_not_of(" \t", end), text.size()));
  return macro;
}

}  // namespace evo
