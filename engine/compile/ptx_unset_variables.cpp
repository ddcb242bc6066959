// Variables in device memory that a kernel only reads.

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "engine/compile/ptx_constants.hpp"
#include "engine/compile/ptx_words.hpp"

namespace evo {
namespace {

using Names = std::set<std::string_view>;
using Statement = std::vector<std::string_view>;

/// The words of a .loc directive, which ends with its line and not with ';':
/// .loc file line column [, function_name label [+ offset], inlined_at file line column]
std::size_t length_of_loc(std::span<const std::string_view> words) {
  constexpr std::size_t kPlain = 4;
  constexpr std::size_t kPlace = 4;  // inlined_at file line column
  if (words.size() <= kPlain || words[kPlain] != ",") return std::min(words.size(), kPlain);
  const auto inlined = std::ranges::find(words, "inlined_at");
  const auto at = static_cast<std::size_t>(inlined - words.begin());
  return std::min(words.size(), at + kPlace);
}

/// The words up to each ';'. Braces in front of an instruction or behind a directive are scopes,
/// others are vectors of registers.
std::vector<Statement> statements_of(const std::vector<std::string_view>& words) {
  std::vector<Statement> statements(1);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    Statement& last = statements.back();
    if (last.empty() && word == ".loc") {
      at += length_of_loc(std::span(words).subspan(at)) - 1;
      continue;
    }
    const bool is_brace = word == "{" || word == "}";
    if (last.empty() && is_brace) continue;
    const bool opens_body = word == "{" && last.front().starts_with('.');
    if (word == ";" || word == ":" || opens_body) {
      if (!last.empty()) statements.emplace_back();
      continue;
    }
    last.push_back(word);
  }
  return statements;
}

/// Where an address or its parts may be, in no order: what may reach a store counts.
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

 private:
  void take(const Statement& statement) {
    std::size_t at = 0;
    if (statement.empty()) return;
    if (statement[0] == "@") at = statement.size() > 1 && statement[1] == "!" ? 3 : 2;
    if (at >= statement.size() || statement[at].starts_with('.')) return;
    const std::string_view opcode = statement[at];
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
    // Whatever else it is may write there, or give the address away.
    may_be_written_ = may_be_written_ || !is_arithmetic;
    holds_.insert(*first);
  }

  Names holds_;
  bool is_read_ = false;
  bool may_be_written_ = false;
};

/// The names of variables in device memory without a value: constants of C++ stand in every PTX.
/// Looks at the text alone, which takes little time.
Names unset_names(std::string_view ptx) {
  constexpr std::string_view kSpace = ".global";
  Names names;
  for (std::size_t at = ptx.find(kSpace); at != std::string_view::npos;
       at = ptx.find(kSpace, at + 1)) {
    // Instructions name the state space, too: as a part of a longer word.
    const std::size_t behind = at + kSpace.size();
    if (behind >= ptx.size() || is_part_of_ptx_word(ptx[behind])) continue;
    if (at > 0 && is_part_of_ptx_word(ptx[at - 1])) continue;
    const std::size_t end = std::min(ptx.find(';', behind), ptx.size());
    const std::string_view declaration = ptx.substr(behind, end - behind);
    if (declaration.find('=') != std::string_view::npos) continue;
    const std::string_view whole = declaration.substr(0, declaration.find('['));
    names.insert(whole.substr(whole.find_last_of(" \t\n") + 1));
  }
  return names;
}

/// Whether one of them is named anywhere but where it is declared, also in a comment.
bool may_use_unset_globals(std::string_view ptx) {
  const Names names = unset_names(ptx);
  if (names.empty()) return false;
  std::array<bool, 256> begins{};  // with which characters
  for (const std::string_view name : names) {
    if (name.empty()) return true;
    begins.at(static_cast<unsigned char>(name.front())) = true;
  }
  Names seen;
  for (std::size_t at = 0; at < ptx.size();) {
    if (!is_part_of_ptx_word(ptx[at])) {
      ++at;
      continue;
    }
    const std::size_t first = at;
    while (at < ptx.size() && is_part_of_ptx_word(ptx[at])) ++at;
    if (!begins.at(static_cast<unsigned char>(ptx[first]))) continue;
    const std::string_view word = ptx.substr(first, at - first);
    if (names.contains(word) && !seen.insert(word).second) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> variables_only_read(std::string_view ptx, const std::string& symbol) {
  if (!may_use_unset_globals(ptx)) return {};
  const std::vector<std::string_view> words = words_of(ptx);
  const std::vector<Statement> statements = statements_of(words);
  std::vector<std::string> names;
  for (const std::string& variable : unset_globals(ptx, symbol)) {
    Uses uses(variable);
    uses.follow(statements);
    if (uses.is_only_read()) names.push_back(variable_name(variable));
  }
  return names;
}

}  // namespace evo
