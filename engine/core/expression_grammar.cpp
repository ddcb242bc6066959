#include "engine/core/expression_grammar.hpp"

#include <utility>

#include "engine/core/expression_cursor.hpp"
#include "engine/core/expression_words.hpp"

namespace evo {
namespace {

using Token = ExpressionToken;
using Node = ExpressionTree::Node;
using Kind = ExpressionToken::Kind;

constexpr std::size_t kLongestText = 10000;
/// Limit of the number of operations, numbers and names in an expression, because a short text can
/// become a large tree: lists, chained comparisons and "or" copy operands.
constexpr std::uint32_t kMostNodes = 20000;
/// Limit of the nesting of parentheses and operators, because the recursive parser needs a few
/// kilobytes of stack for each level.
constexpr int kDeepest = 100;

/// where a part of the text begins, and where it ends: the offset after its last character
using Range = std::pair<std::size_t, std::size_t>;

struct Term {
  Node node = 0;
  Range range = {};
  /// the operands if `node` is a conjunction; otherwise empty
  std::vector<Range> conjuncts = {};

  [[nodiscard]] std::vector<Range> parts() const {
    return conjuncts.empty() ? std::vector{range} : conjuncts;
  }
};

class Grammar : ExpressionCursor {
 public:
  Grammar(std::string_view text, const std::map<std::string, double>& constants)
      : ExpressionCursor(text), constants_(constants) {}

  ParsedExpression parse();

 private:
  /// Counts one level of recursion; throws if the nesting exceeds kDeepest.
  class Level {
   public:
    explicit Level(Grammar& grammar) : grammar_(grammar) {
      if (++grammar_.depth_ > kDeepest) {
        grammar_.fail_here("nested too deeply; allowed: " + std::to_string(kDeepest) + " levels");
      }
    }
    ~Level() { --grammar_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Grammar& grammar_;
  };

  using Rule = Term (Grammar::*)();
  using Joining = Term (Grammar::*)(const Term& left, const Term& right, bool is_word, Node skip);

  // Each of the following functions parses one rule of the grammar.
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

  /// Adds a node for `operation` with the operands `left` and `right`.
  [[nodiscard]] Term joined(Operation operation, const Term& left, const Term& right);
  /// Joins two operands by `&&`, whose value is 0 or 1, or by `and`, whose value is that of one
  /// operand. The right operand is evaluated only if the left operand is true. `skip`: the node
  /// that makes the evaluation skip the right operand.
  [[nodiscard]] Term both(const Term& left, const Term& right, bool is_word, Node skip);
  [[nodiscard]] Term either(const Term& left, const Term& right, bool is_word, Node skip);
  /// Parses operands that are separated by `sign` or `word`, and joins them from the right. The
  /// first operand whose truth value is `decides` determines the result; later operands are
  /// skipped.
  [[nodiscard]] Term logical(std::string_view sign, std::string_view word, bool decides,
                             Rule operand, Joining join);
  [[nodiscard]] Term checked(Term term) const;

  const std::map<std::string, double>& constants_;
  int depth_ = 0;
  ExpressionTree tree_;
  /// indices of variables in the order of their first use
  std::map<std::string, std::size_t> variables_;
};

ParsedExpression Grammar::parse() {
  if (text_.size() > kLongestText) {
    fail_expression(text_, kLongestText,
                    "too long; allowed: " + std::to_string(kLongestText) + " characters");
  }
  advance();
  const Term whole = choice();
  if (token_.kind != Kind::kEnd) fail_here("an operator or the end is expected here");
  ParsedExpression parsed{std::move(tree_), whole.node, {}, {}};
  std::vector<std::size_t> order(variables_.size());
  for (const auto& [name, number] : variables_) {
    order[number] = parsed.variables.size();
    parsed.variables.push_back(name);
  }
  parsed.tree.reorder(order);
  for (const auto& [begin, end] : whole.parts()) {
    parsed.conjuncts.emplace_back(text_.substr(begin, end - begin));
  }
  return parsed;
}

/// Throws if the tree exceeds kMostNodes, because lists, chained comparisons and Python's `or` copy
/// their operands.
Term Grammar::checked(Term term) const {
  if (tree_.size(term.node) > kMostNodes) {
    fail_expression(text_, term.range.first,
                    "too long after lists, chained comparisons and 'or' are expanded");
  }
  return term;
}

Term Grammar::joined(Operation operation, const Term& left, const Term& right) {
  return checked(
      {tree_.add(operation, {left.node, right.node}), {left.range.first, right.range.second}});
}

Term Grammar::both(const Term& left, const Term& right, bool is_word, Node skip) {
  const Node value = is_word ? right.node : tree_.truth(right.node);
  tree_.land(skip);
  Term term{tree_.add(Operation::kChoose, {left.node, value, tree_.number(0)}),
            {left.range.first, right.range.second},
            left.parts()};
  for (const Range& part : right.parts()) term.conjuncts.push_back(part);
  return checked(std::move(term));
}

Term Grammar::either(const Term& left, const Term& right, bool is_word, Node skip) {
  const Node no = is_word ? right.node : tree_.truth(right.node);
  tree_.land(skip);
  const Node yes = is_word && !tree_.is_truth(left.node) ? left.node : tree_.number(1);
  return checked({tree_.add(Operation::kChoose, {left.node, yes, no}),
                  {left.range.first, right.range.second}});
}

Term Grammar::choice() {
  const Level level(*this);
  const Term condition = disjunction();
  if (!take("?")) return condition;
  const Node skip_yes = tree_.skip(condition.node, false);
  const Term yes = choice();
  expect(":", "between the two values of ?");
  const Node skip_no = tree_.skip(condition.node, true);
  tree_.land(skip_yes);
  const Term no = choice();
  tree_.land(skip_no);
  return checked({tree_.add(Operation::kChoose, {condition.node, yes.node, no.node}),
                  {condition.range.first, no.range.second}});
}

Term Grammar::disjunction() {
  return logical("||", "or", true, &Grammar::conjunction, &Grammar::either);
}

Term Grammar::conjunction() {
  return logical("&&", "and", false, &Grammar::negation, &Grammar::both);
}

Term Grammar::logical(std::string_view sign, std::string_view word, bool decides, Rule operand,
                      Joining join) {
  std::vector<Term> operands = {(this->*operand)()};
  std::vector<std::pair<bool, Node>> joints;
  while (is(sign) || is(word)) {
    joints.emplace_back(is(word), tree_.skip(operands.back().node, decides));
    advance();
    operands.push_back((this->*operand)());
  }
  Term result = std::move(operands.back());
  for (std::size_t i = joints.size(); i-- > 0;) {
    result = (this->*join)(operands[i], result, joints[i].first, joints[i].second);
  }
  return result;
}

Term Grammar::negation() {
  if (!is("not")) return comparison();
  const Level level(*this);
  const std::size_t begin = token_.begin;
  advance();
  const Term operand = negation();
  return {tree_.add(Operation::kNot, {operand.node}), {begin, operand.range.second}};
}

/// As in Python, chained comparisons are true if each of them is true: a < b < c means a < b and b
/// < c.
Term Grammar::comparison() {
  Term left = sum();
  if (!is_comparison() && !is("in") && !is("not")) return left;
  std::optional<Term> chain;
  const auto add = [&](const auto& link_of) {
    const Node skip = chain ? tree_.skip(chain->node, false) : 0;
    const Term link = link_of();
    chain = chain ? both(*chain, link, false, skip) : checked(link);
  };
  while (is_comparison()) {
    add([&]() -> Term {
      const std::string op(token_.text);
      advance();
      const Term right = sum();
      const Node node = compared(tree_, op, left.node, right.node);
      const Range range = {left.range.first, right.range.second};
      left = right;
      return {node, range};
    });
  }
  if (is("in") || is("not")) add([&] { return membership(left); });
  if (is_comparison() || is("in") || is("not")) {
    fail_here("a list cannot be compared; use parentheses");
  }
  return *chain;
}

Term Grammar::membership(const Term& left) {
  const bool inverted = take("not");
  expect("in", "after not; to negate a comparison, write not (A == B)");
  const bool round = is("(");
  if (!round && !is("[")) fail_here("a list is expected here, such as (1, 2) or [1, 2]");
  advance();
  const std::string_view close = round ? ")" : "]";
  bool comma = true;
  std::size_t count = 0;
  Node any = 0;
  // As in Python, `x in (a, b)` evaluates every element of the list, even those after a match.
  for (; comma && !is(close); ++count) {
    const Node equal = tree_.add(Operation::kEqual, {left.node, choice().node});
    any = count == 0 ? equal : tree_.add(Operation::kMax, {any, equal});
    comma = take(",");
  }
  if (count == 0) fail_here("the list is empty; a value is expected here");
  if (round && count == 1 && !comma && is(close)) {
    fail_here("one value in parentheses is no list; write [value]");
  }
  expect(close, "at the end of the list");
  return checked(
      {inverted ? tree_.add(Operation::kNot, {any}) : any, {left.range.first, last_end_}});
}

Term Grammar::sum() {
  Term left = product();
  while (is("+") || is("-")) {
    const Operation operation = is("+") ? Operation::kAdd : Operation::kSubtract;
    advance();
    left = joined(operation, left, product());
  }
  return left;
}

Term Grammar::product() {
  Term left = unary();
  while (is("*") || is("/") || is("//") || is("%")) {
    const Operation operation = is("*")    ? Operation::kMultiply
                                : is("/")  ? Operation::kDivide
                                : is("//") ? Operation::kFloorDivide
                                           : Operation::kModulo;
    advance();
    left = joined(operation, left, unary());
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
  const Range range = {begin, operand.range.second};
  if (op == "!") return {tree_.add(Operation::kNot, {operand.node}), range};
  if (const auto number = tree_.number_of(operand.node); op == "-" && number) {
    return {tree_.number(-*number), range};
  }
  const Operation operation = op == "+" ? Operation::kAdd : Operation::kSubtract;
  return checked({tree_.add(operation, {tree_.number(0), operand.node}), range});
}

Term Grammar::power() {
  const Term base = primary();
  if (!is("^") && !is("**")) return base;
  const Level level(*this);
  advance();
  return joined(Operation::kPower, base, unary());
}

Term Grammar::primary() {
  const Token first = token_;
  if (first.kind == Kind::kName) return named();
  if (first.kind == Kind::kNumber) {
    advance();
    return {tree_.number(first.number), {first.begin, last_end_}};
  }
  if (!take("(")) fail_here("a number, a name, a function or ( is expected here");
  Term inner = choice();
  expect(")", "to close the ( at position " + std::to_string(first.begin + 1));
  inner.conjuncts = inner.parts();
  inner.range = {first.begin, last_end_};
  return inner;
}

Term Grammar::named() {
  const Token name = token_;
  if (find_expression_word(name.text) != nullptr) {
    const bool yes = is("True") || is("true");
    if (!yes && !is("False") && !is("false")) fail_here("a value is expected here");
    advance();
    return {tree_.number(yes ? 1 : 0), {name.begin, last_end_}};
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
  std::vector<Node> arguments;
  while (!is(")")) {
    arguments.push_back(choice().node);
    if (!take(",")) break;
    if (is(")")) fail_here("an argument is expected after the comma");
  }
  expect(")", "after the arguments of " + std::string(name.text));
  const std::size_t count = arguments.size();
  if (count < function->fewest || count > function->most) {
    fail_expression(text_, name.begin,
                    described(name) + " has " + std::to_string(count) + " arguments; allowed: " +
                        (function->most > function->fewest ? "at least " : "") +
                        std::to_string(function->fewest));
  }
  return checked({called(tree_, name.text, arguments), {name.begin, last_end_}});
}

Term Grammar::variable(const Token& name) {
  const std::string text(name.text);
  const Range range = {name.begin, last_end_};
  if (const auto constant = constants_.find(text); constant != constants_.end()) {
    return {tree_.number(constant->second), range};
  }
  const auto found = variables_.try_emplace(text, variables_.size()).first;
  return {tree_.variable(found->second), range};
}

}  // namespace

ParsedExpression parse_expression(std::string_view expression,
                                  const std::map<std::string, double>& constants) {
  return Grammar(expression, constants).parse();
}

std::string translate_expression(std::string_view expression,
                                 const std::map<std::string, double>& constants) {
  const ParsedExpression parsed = parse_expression(expression, constants);
  return parsed.tree.json(parsed.root, parsed.variables);
}

}  // namespace evo
