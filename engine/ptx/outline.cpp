#include "engine/ptx/outline.hpp"

#include <map>

namespace evo::ptx {
namespace {

/// True for the words that Outline notes as names: words without '.' and '%', which may be symbols
/// of the module; environment registers; and "griddepcontrol.wait".
bool may_be_symbol(const Token& token) {
  if (token.kind != Token::Kind::kWord) return false;
  if (token.text == kGridWaitWord) return true;
  return token.text.front() == '%' ? token.text.starts_with("%envreg")
                                   : token.text.find('.') == std::string_view::npos;
}

}  // namespace

Outline::Outline(std::string_view ptx) : lexer_(ptx) {
  advance();
  while (!at_end()) take_declaration();
}

/// Reads one statement at module scope, including the ';' or '}' that ends it.
void Outline::take_declaration() {
  // The directives .version, .target and .address_size do not end with ';'.
  if (token_.text == ".version" || token_.text == ".target" || token_.text == ".address_size") {
    do {
      advance();
      advance();
    } while (token_.text == ",");
    return;
  }
  Declaration its;
  for (int depth = 0; !at_end();) {
    const Token token = token_;
    advance();
    if (token.kind == Token::Kind::kDirective && depth == 0) note_directive(token.text, its);
    if (token.kind == Token::Kind::kPunctuation) {
      const char sign = token.text.front();
      if (sign == '{') ++depth;
      if (sign == '}' && --depth <= 0 && !its.has_value) break;
      if (sign == ';' && depth <= 0) break;
      its.has_value |= sign == '=' && depth == 0;
      // In a function's declaration, the return values precede the name.
      if (sign == '(' && its.name.empty()) skip_parentheses();
    } else if (may_be_symbol(token)) {
      if (its.name.empty()) {
        its.name = token.text;
      } else {
        its.names.push_back(token.text);
      }
    }
  }
  declarations_.push_back(std::move(its));
}

void Outline::note_directive(std::string_view directive, Declaration& declaration) {
  using Kind = Declaration::Kind;
  // The first directive that gives the kind of a declaration decides; later directives, such as the
  // state spaces of a function's parameters, do not change the kind.
  if (declaration.kind != Kind::kOther) return;
  if (directive == ".entry") declaration.kind = Kind::kEntry;
  if (directive == ".func") declaration.kind = Kind::kFunction;
  if (directive == ".const") declaration.kind = Kind::kConstant;
  if (directive == ".global") declaration.kind = Kind::kGlobal;
}

void Outline::skip_parentheses() {
  for (int depth = 1; !at_end() && depth > 0; advance()) {
    depth += token_.text == "(" ? 1 : token_.text == ")" ? -1 : 0;
  }
}

std::set<std::string_view> Outline::reached_from(std::string_view symbol) const {
  std::map<std::string_view, std::vector<const Declaration*>> by_name;
  for (const Declaration& its : declarations_) by_name[its.name].push_back(&its);
  std::set<std::string_view> reached = {symbol};
  std::vector<std::string_view> open = {symbol};
  while (!open.empty()) {
    const auto found = by_name.find(open.back());
    open.pop_back();
    if (found == by_name.end()) continue;
    for (const Declaration* its : found->second) {
      for (const std::string_view name : its->names) {
        if (reached.insert(name).second) open.push_back(name);
      }
    }
  }
  return reached;
}

}  // namespace evo::ptx
