#include "engine/core/formulas.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/expression_lexer.hpp"

namespace evo {
namespace {

constexpr std::size_t kLongest = 10'000;  // length limit of an expression

class Inserter {
 public:
  explicit Inserter(const Formulas& formulas) : formulas_(formulas) {}

  std::string run(std::string_view expression) {
    ExpressionLexer lexer(expression);
    std::string text;
    std::size_t copied = 0;
    for (ExpressionToken token = lexer.next(); token.kind != ExpressionToken::Kind::kEnd;
         token = lexer.next()) {
      if (token.kind != ExpressionToken::Kind::kName) continue;
      const auto formula = formulas_.find(token.text);
      if (formula == formulas_.end()) continue;
      text.append(expression.substr(copied, token.begin - copied)).append(inserted(*formula));
      copied = token.begin + token.text.size();
      require_short(text, formula->first);
    }
    if (copied == 0) return std::string(expression);
    return text.append(expression.substr(copied));
  }

 private:
  std::string inserted(const Formulas::value_type& formula) {
    const auto& [name, text] = formula;
    if (std::find(open_.begin(), open_.end(), name) != open_.end()) {
      std::string way;
      for (const std::string& step : open_) way += step + " → ";
      throw InputError(evo::quoted(name) + " is defined by itself: " + way + name);
    }
    open_.push_back(name);
    std::string whole = run(text);
    open_.pop_back();
    ExpressionLexer lexer(whole);
    const ExpressionToken first = lexer.next();
    const bool is_single = first.kind != ExpressionToken::Kind::kOperator &&
                           lexer.next().kind == ExpressionToken::Kind::kEnd;
    return is_single ? whole : "(" + whole + ")";
  }

  static void require_short(const std::string& text, const std::string& name) {
    if (text.size() <= kLongest) return;
    throw InputError("with the formula of " + evo::quoted(name) +
                     " in its place, the expression is longer than " + std::to_string(kLongest) +
                     " characters");
  }

  const Formulas& formulas_;
  std::vector<std::string> open_;  ///< the names that are being replaced, outermost first
};

}  // namespace

std::string with_formulas(std::string_view expression, const Formulas& formulas) {
  // Does not parse the expression if there is no formula to insert, as in most files; the caller
  // parses the expression later.
  if (formulas.empty()) return std::string(expression);
  return Inserter(formulas).run(expression);
}

std::string formula_of(double value) {
  constexpr double kExact = 0x1.0p53;
  if (value == std::floor(value) && std::fabs(value) <= kExact) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return nlohmann::json(value).dump();
}

}  // namespace evo
