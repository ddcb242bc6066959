// Determines how a PTX module uses its variables in device memory.

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "engine/ptx/line_information.hpp"
#include "engine/ptx/outline.hpp"
#include "engine/ptx/variables.hpp"

namespace evo {
namespace {

using ptx::Declaration;
using ptx::Token;
using Names = std::set<std::string_view>;
using Statement = std::vector<std::string_view>;

/// Splits tokens into statements at each ';', at the ':' of a label and at the braces of a scope,
/// and omits strings and line information. A brace at the start of a statement or after a directive
/// opens a scope; any other brace opens a register vector.
std::vector<Statement> statements_of(const std::vector<Token>& tokens) {
  std::vector<Statement> statements(1);
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::string_view word = tokens[at].text;
    Statement& last = statements.back();
    if (last.empty()) {
      const std::size_t skipped = ptx::length_of_line_information(std::span(tokens).subspan(at));
      if (skipped > 0) at += skipped - 1;
      if (skipped > 0 || word == "{" || word == "}") continue;
    }
    const bool opens_body = word == "{" && last.front().starts_with('.');
    if (word == ";" || word == ":" || opens_body) {
      if (!last.empty()) statements.emplace_back();
    } else if (tokens[at].kind != Token::Kind::kString) {
      last.push_back(word);
    }
  }
  return statements;
}

/// Finds the registers that may hold the address of a variable, or a part of the address, and all
/// uses of these registers. The order of instructions is ignored, so the class may find more
/// registers and uses than there are, but never fewer.
class Uses {
 public:
  explicit Uses(std::string_view variable) : holds_({variable}) {}

  void follow(const std::vector<Statement>& statements) {
    for (std::size_t known = 0; known != holds_.size();) {
      known = holds_.size();
      for (const Statement& statement : statements) take(statement);
    }
  }

  [[nodiscard]] bool is_only_read() const { return is_read_ && !may_be_written_; }
  [[nodiscard]] bool may_be_written() const { return may_be_written_; }

 private:
  void take(const Statement& statement) {
    std::size_t at = 0;
    if (statement.empty()) return;
    if (statement[0] == "@") at = statement.size() > 1 && statement[1] == "!" ? 3 : 2;
    if (at >= statement.size()) return;
    const std::string_view opcode = statement[at];
    // A `.loc` that is not well-formed may hide other statements, so the variable is assumed to be
    // written.
    may_be_written_ |= opcode == ".loc";
    if (opcode.starts_with('.')) return;
    const auto is_held = [&](std::string_view word) { return holds_.contains(word); };
    const auto first = statement.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    if (std::none_of(first, statement.end(), is_held)) return;
    if (opcode.starts_with("ld.") || opcode.starts_with("ldu.")) {
      is_read_ = true;
      return;
    }
    static constexpr std::array<std::string_view, 12> kArithmetic = {
        "mov.", "add.", "sub.",  "mad.", "mul.", "cvta",
        "cvt.", "shl.", "selp.", "and.", "or.",  "xor."};
    const bool is_arithmetic =
        *first != "{" && std::ranges::any_of(kArithmetic, [&](std::string_view name) {
          return opcode.starts_with(name);
        });
    // Instructions other than loads and arithmetic may write to the address or let it escape.
    may_be_written_ = may_be_written_ || !is_arithmetic;
    holds_.insert(*first);
  }

  Names holds_;
  bool is_read_ = false;
  bool may_be_written_ = false;
};

/// Symbols of the variables in device memory that have no initial value and that the kernel
/// `symbol` can reach. Variables whose addresses are stored in other variables are excluded.
Names unset_globals(std::string_view ptx, const std::string& symbol) {
  const ptx::Outline outline(ptx);
  Names unset;
  for (const Declaration& its : outline.declarations()) {
    if (its.kind == Declaration::Kind::kGlobal && !its.has_value) unset.insert(its.name);
  }
  if (unset.empty()) return unset;
  for (const Declaration& its : outline.declarations()) {
    if (!its.is_variable()) continue;
    for (const std::string_view name : its.names) unset.erase(name);
  }
  const Names reached = outline.reached_from(symbol);
  std::erase_if(unset, [&](std::string_view name) { return !reached.contains(name); });
  return unset;
}

/// True if the initial value of another variable of the module contains the address of `variable`.
bool is_pointed_to(const ptx::Outline& outline, std::string_view variable) {
  return std::ranges::any_of(outline.declarations(), [&](const Declaration& its) {
    return its.is_variable() && std::ranges::find(its.names, variable) != its.names.end();
  });
}

}  // namespace

bool may_keep_variables(std::string_view ptx, const std::string& symbol) {
  const ptx::Outline outline(ptx);
  const Names reached = outline.reached_from(symbol);
  std::vector<Statement> statements;
  return std::ranges::any_of(outline.declarations(), [&](const Declaration& its) {
    if (its.kind != Declaration::Kind::kGlobal || !reached.contains(its.name)) return false;
    if (is_pointed_to(outline, its.name)) return true;
    if (statements.empty()) statements = statements_of(ptx::split_tokens(ptx));
    Uses uses(its.name);
    uses.follow(statements);
    return uses.may_be_written();
  });
}

std::vector<std::string> variables_only_read(std::string_view ptx, const std::string& symbol) {
  const Names variables = unset_globals(ptx, symbol);
  if (variables.empty()) return {};
  const std::vector<Statement> statements = statements_of(ptx::split_tokens(ptx));
  std::vector<std::string> names;
  for (const std::string_view variable : variables) {
    Uses uses(variable);
    uses.follow(statements);
    if (uses.is_only_read()) names.push_back(variable_name(std::string(variable)));
  }
  return names;
}

}  // namespace evo
