#include "engine/core/expression_grammar.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/core/expression_lexer.hpp"
#include "engine/core/expression_term.hpp"
#include "engine/core/expression_words.hpp"

namespace evo {
namespace {

using Token = ExpressionToken;
using Term = ExpressionTerm;
using Kind = ExpressionToken::Kind;

constexpr std::size_t kLongestText = 10000;
/// muParser refuses code of 20,000 characters.
constexpr std::size_t kLongestCode = 19999;
constexpr std::size_t kLongestTree = 20 * kLongestCode;
/// Each level takes a few kilobytes of stack.
constexpr int kDeepest = 100;

class Grammar {
 public:
  Grammar(std::string_view text, const std::map<std::string, double>& constants)
      : text_(text), constants_(constants), lexer_(text) {}

  TranslatedExpression translate();

 private:
  /// One level of recursion; refuses to go deeper than kDeepest.
  class Level {
   public:
    explicit Level(Grammar& grammar) : grammar_(grammar) {
      if (++grammar_.depth_ > kDeepest) {
        grammar_.fail_here("nested too deeply; allowed are " + std::to_string(kDeepest) +
                           " levels");
      }
    }
    ~Level() { --grammar_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Grammar& grammar_;
  };

  // One function for each rule of the grammar.
  Term choice();
  Term disjunction();
  Term conjunction();
  Term negation();
  Term comparison();
  Term membership(const Term& left);
  Term sum();
  Term product();
  Term unary();
  Term power();
  Term primary();
  Term named();
  Term call(const Token& name);
  Term variable(const Token& name);

  [[noreturn]] void fail_here(const std::string& expected) const;
  void advance();
  [[nodiscard]] bool is(std::string_view text) const;
  [[nodiscard]] bool is_comparison() const;
  bool take(std::string_view text);
  void expect(std::string_view text, const std::string& what);
  [[nodiscard]] Term checked(Term term) const;
  [[nodiscard]] Term number_at(double value, std::size_t begin) const;

  std::string_view text_;
  const std::map<std::string, double>& constants_;
  ExpressionLexer lexer_;
  Token token_;
  std::size_t last_end_ = 0;  ///< end of the token before token_
  int depth_ = 0;
  std::map<std::string, std::size_t> variables_;
};

TranslatedExpression Grammar::translate() {
  if (text_.size() > kLongestText) {
    fail_expression(text_, kLongestText,
                    "too long; allowed are " + std::to_string(kLongestText) + " characters");
  }
  advance();
  Term whole = choice();
  if (token_.kind != Kind::kEnd) fail_here("an operator or the end is expected here");
  if (whole.conjuncts.empty()) whole.conjuncts = {{whole.begin, whole.end}};
  TranslatedExpression translated{
      std::move(whole.code), std::move(variables_), {}, std::move(whole.tree)};
  for (const auto& [begin, end] : whole.conjuncts) {
    translated.conjuncts.emplace_back(text_.substr(begin, end - begin));
  }
  return translated;
}

void Grammar::fail_here(const std::string& expected) const {
  std::string hint;
  if (is(",")) {
    hint = "; a comma only separates arguments; a decimal number has a point, such as 0.001";
  } else if (is("[")) {
    hint = "; a list only follows in";
  } else if (const ExpressionWord* word = find_expression_word(token_.text);
             word != nullptr && !word->write.empty()) {
    hint.append("; ").append(word->write);
  }
  fail_expression(text_, token_.begin, described(token_) + ": " + expected + hint);
}

void Grammar::advance() {
  last_end_ = token_.begin + token_.text.size();
  token_ = lexer_.next();
}

bool Grammar::is(std::string_view text) const {
  return token_.kind != Kind::kEnd && token_.text == text;
}

bool Grammar::is_comparison() const {
  static constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<",
                                                                   "<=", ">",  ">="};
  return std::find(kComparisons.begin(), kComparisons.end(), token_.text) != kComparisons.end();
}

bool Grammar::take(std::string_view text) {
  if (!is(text)) return false;
  advance();
  return true;
}

void Grammar::expect(std::string_view text, const std::string& what) {
  if (!take(text)) fail_here(quoted(text) + " is expected " + what);
}

/// What lists, chained comparisons and Python's or write twice must not grow without bound.
Term Grammar::checked(Term term) const {
  if (term.code.size() > kLongestCode || term.tree.size() > kLongestTree) {
    fail_expression(text_, term.begin,
                    "too long once lists, chained comparisons and or are written out");
  }
  return term;
}

Term Grammar::number_at(double value, std::size_t begin) const {
  Term term = number_term(value);
  term.begin = begin;
  term.end = last_end_;
  return term;
}

Term Grammar::choice() {
  const Level level(*this);
  Term condition = disjunction();
  if (!take("?")) return condition;
  const Term yes = choice();
  expect(":", "between the two values of ?");
  return checked(chosen(condition, yes, choice()));
}

Term Grammar::disjunction() {
  std::vector<Term> operands;
  std::vector<Spelling> spellings;
  operands.push_back(conjunction());
  while (is("||") || is("or")) {
    spellings.push_back(is("or") ? Spelling::kWord : Spelling::kSymbol);
    advance();
    operands.push_back(conjunction());
  }
  Term result = std::move(operands.back());
  for (std::size_t i = spellings.size(); i-- > 0;) {
    result = checked(either(operands[i], result, spellings[i]));
  }
  return result;
}

Term Grammar::conjunction() {
  std::vector<Term> operands;
  std::vector<Spelling> spellings;
  operands.push_back(negation());
  while (is("&&") || is("and")) {
    spellings.push_back(is("and") ? Spelling::kWord : Spelling::kSymbol);
    advance();
    operands.push_back(negation());
  }
  Term result = std::move(operands.back());
  for (std::size_t i = spellings.size(); i-- > 0;) {
    result = checked(both(operands[i], result, spellings[i]));
  }
  return result;
}

Term Grammar::negation() {
  if (!is("not")) return comparison();
  const Level level(*this);
  const std::size_t begin = token_.begin;
  advance();
  return negated(negation(), begin);
}

/// All comparisons of a chain hold, as in Python: a < b < c is a < b and b < c.
Term Grammar::comparison() {
  Term left = sum();
  if (!is_comparison() && !is("in") && !is("not")) return left;
  std::optional<Term> chain;
  const auto add = [&](const Term& link) {
    chain = checked(chain ? both(*chain, link, Spelling::kSymbol) : link);
  };
  while (is_comparison()) {
    const std::string op(token_.text);
    advance();
    Term right = sum();
    add(compared(left, op, right));
    left = std::move(right);
  }
  if (is("in") || is("not")) add(membership(left));
  if (is_comparison() || is("in") || is("not")) {
    fail_here("nothing is compared with a list; use parentheses");
  }
  return *chain;
}

Term Grammar::membership(const Term& left) {
  const bool inverted = take("not");
  expect("in", "after not; before a comparison, not needs parentheses");
  const bool round = is("(");
  if (!round && !is("[")) fail_here("a list is expected here, such as (1, 2) or [1, 2]");
  advance();
  const std::string_view close = round ? ")" : "]";
  std::size_t count = 0;
  bool comma = true;
  Term list;
  std::vector<std::string> elements;
  while (comma && !is(close)) {
    const Term element = choice();
    const Term equal = compared(left, "==", element);
    elements.push_back(element.tree);
    // Like Python, every element is evaluated, also behind the one that is equal.
    list.code.append(count++ == 0 ? "" : "||").append(equal.code);
    list.can_fail = list.can_fail || equal.can_fail;
    list = checked(std::move(list));
    comma = take(",");
  }
  if (count == 0) fail_here("nothing is in an empty list; a value is expected here");
  if (round && count == 1 && !comma && is(close)) {
    fail_here("one value in parentheses is no list; write [value]");
  }
  expect(close, "at the end of the list");
  list.code = "(" + list.code + ")";
  list.tree = tree_of_membership(left.tree, elements);
  list.is_truth = true;
  list.begin = left.begin;
  list.end = last_end_;
  return inverted ? negated(list, list.begin) : list;
}

Term Grammar::sum() {
  Term left = product();
  while (is("+") || is("-")) {
    const std::string op(token_.text);
    advance();
    left = checked(calculated(left, op, product()));
  }
  return left;
}

Term Grammar::product() {
  Term left = unary();
  while (is("*") || is("/") || is("//") || is("%")) {
    const std::string op(token_.text);
    advance();
    left = checked(calculated(left, op, unary()));
  }
  return left;
}

Term Grammar::unary() {
  if (!is("+") && !is("-") && !is("!")) return power();
  const Level level(*this);
  const std::size_t begin = token_.begin;
  const std::string op(token_.text);
  advance();
  const Term operand = unary();
  if (op == "!") return negated(operand, begin);
  if (op == "-" && operand.number) {
    Term number = number_term(-*operand.number);
    number.begin = begin;
    number.end = operand.end;
    return number;
  }
  Term zero = number_term(0);
  zero.begin = begin;
  return checked(calculated(zero, op, operand));
}

Term Grammar::power() {
  const Term base = primary();
  if (!is("^") && !is("**")) return base;
  const Level level(*this);
  advance();
  return checked(raised(base, unary()));
}

Term Grammar::primary() {
  const Token first = token_;
  if (first.kind == Kind::kName) return named();
  if (first.kind == Kind::kNumber) {
    advance();
    return number_at(first.number, first.begin);
  }
  if (!take("(")) fail_here("a number, a name, a function or ( is expected here");
  Term inner = choice();
  expect(")", "to close the ( at position " + std::to_string(first.begin + 1));
  if (inner.conjuncts.empty()) inner.conjuncts = {{inner.begin, inner.end}};
  inner.begin = first.begin;
  inner.end = last_end_;
  return inner;
}

Term Grammar::named() {
  const Token name = token_;
  if (find_expression_word(name.text) != nullptr) {
    const bool yes = is("True") || is("true");
    if (!yes && !is("False") && !is("false")) fail_here("a value is expected here");
    advance();
    return number_at(yes ? 1 : 0, name.begin);
  }
  advance();
  if (is("(")) return call(name);
  if (find_expression_function(name.text) == nullptr) return variable(name);
  fail_expression(text_, name.begin,
                  described(name) + " is a function; write " + std::string(name.text) + "(…)");
}

Term Grammar::call(const Token& name) {
  const ExpressionFunction* function = find_expression_function(name.text);
  if (function == nullptr) {
    fail_expression(text_, name.begin,
                    described(name) + " is no function; allowed: " + expression_functions());
  }
  advance();
  Term result{std::string(name.text) + "(", name.begin, 0, name.text == "is_pow2",
              function->can_fail};
  std::vector<std::string> arguments;
  std::size_t count = 0;
  while (!is(")")) {
    const Term argument = choice();
    result.code.append(count++ == 0 ? "" : ",").append(argument.code);
    result.can_fail = result.can_fail || argument.can_fail;
    arguments.push_back(argument.tree);
    result = checked(std::move(result));
    if (!take(",")) break;
    if (is(")")) fail_here("an argument is expected after the comma");
  }
  expect(")", "after the arguments of " + std::string(name.text));
  if (count < function->fewest || count > function->most) {
    fail_expression(text_, name.begin,
                    described(name) + " has " + std::to_string(count) + " arguments; allowed: " +
                        (function->most > function->fewest ? "at least " : "") +
                        std::to_string(function->fewest));
  }
  result.code += ")";
  result.tree = tree_of_call(name.text, arguments);
  result.end = last_end_;
  return checked(std::move(result));
}

Term Grammar::variable(const Token& name) {
  const std::string text(name.text);
  if (const auto constant = constants_.find(text); constant != constants_.end()) {
    return number_at(constant->second, name.begin);
  }
  const auto found = variables_.try_emplace(text, variables_.size()).first;
  Term term{machine_name(found->second), name.begin, last_end_};
  term.tree = "\"" + text + "\"";
  return term;
}

}  // namespace

std::string machine_name(std::size_t variable) {
  return std::string("v").append(std::to_string(variable));
}

TranslatedExpression translate_expression(std::string_view expression,
                                          const std::map<std::string, double>& constants) {
  return Grammar(expression, constants).translate();
}

}  // namespace evo
