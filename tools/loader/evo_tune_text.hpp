// Part of evo_tune.hpp: its reader of JSON and its expressions.
#ifndef EVO_TUNE_TEXT_HPP_V1
#define EVO_TUNE_TEXT_HPP_V1

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace evo_tune {
inline namespace v1 {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Names and values that expressions are evaluated with.
using Values = std::map<std::string, double>;

namespace detail {

constexpr int kDeepest = 250;  // levels of nesting in JSON and in expressions

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Whatever the program's locale is.
inline double number_from(const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  double value = 0;
  if (!(in >> value) || in.peek() != std::char_traits<char>::eof()) {
    throw Error("'" + text + "' is not a number");
  }
  return value;
}

inline std::string text_of(double value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(15);
  out << value;
  return out.str();
}

struct Json {
  enum Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = kNull;
  double number = 0;  ///< of a bool, 1 or 0
  std::string text;
  std::vector<std::pair<std::string, Json>> items;  ///< of an array, without names

  const Json* find(const std::string& key) const {
    for (const auto& [name, value] : items) {
      if (name == key && kind == kObject) return &value;
    }
    return nullptr;
  }
  const Json& at(const std::string& key, Kind wanted) const {
    const Json* found = find(key);
    if (found == nullptr) throw Error("'" + key + "' is missing");
    if (found->kind != wanted) throw Error("'" + key + "' is of another type than it should be");
    return *found;
  }
  const std::string& string(const std::string& key) const { return at(key, kString).text; }
  const auto& array(const std::string& key) const { return at(key, kArray).items; }
  std::string string_or(const std::string& key, const std::string& fallback) const {
    return find(key) != nullptr ? string(key) : fallback;
  }
};

class JsonParser {
 public:
  explicit JsonParser(const std::string& text) : text_(text) {}
  Json parse() {
    Json json = value(0);
    if (next() != '\0' || at_ < text_.size()) fail("the end is expected");
    return json;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error("byte " + std::to_string(at_) + ": " + problem);
  }
  char next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) { return next() == c && ++at_ > 0; }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is expected");
  }
  Json value(int depth) {
    if (depth > kDeepest) fail("nested too deeply");
    Json json;
    const char c = next();
    if (c == '{' || c == '[') {
      json.kind = c == '{' ? Json::kObject : Json::kArray;
      const char close = c == '{' ? '}' : ']';
      ++at_;
      if (take(close)) return json;
      do {
        std::string name;
        if (c == '{') {
          name = string();
          expect(':');
        }
        json.items.emplace_back(std::move(name), value(depth + 1));
      } while (take(','));
      expect(close);
    } else if (c == '"') {
      json.kind = Json::kString;
      json.text = string();
    } else {
      const std::size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      const std::string word = text_.substr(at_, end - at_);
      const bool is_bool = word == "true" || word == "false";
      json.kind = is_bool ? Json::kBool : word == "null" ? Json::kNull : Json::kNumber;
      json.number = json.kind == Json::kNumber ? number_from(word) : word == "true" ? 1 : 0;
      at_ = end;
    }
    return json;
  }
  std::string string() {
    expect('"');
    std::string result;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        result += text_[at_];
        continue;
      }
      const char escaped = at_ + 1 < text_.size() ? text_[++at_] : '\0';
      const std::size_t known = std::string("\"\\/bfnrt").find(escaped);
      if (escaped == 'u') {  // evo-export escapes control characters alone
        const auto code =
            std::strtoul(text_.substr(std::min(at_ + 1, text_.size()), 4).c_str(), nullptr, 16);
        if (code == 0 || code > 0x7F) fail("\\u is only supported for ASCII characters");
        result += static_cast<char>(code);
        at_ += 4;
      } else if (escaped != '\0' && known != std::string::npos) {
        result += "\"\\/\b\f\n\r\t"[known];
      } else {
        fail("an unknown escape");
      }
    }
    expect('"');
    return result;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

/// Evaluates an expression of evo-tune's files (docs/file-formats.md) while reading it. What does
/// not count (the branch that ? does not take, say) is read and not evaluated.
class Evaluation {
 public:
  Evaluation(const std::string& text, const Values& values) : text_(text), values_(values) {}
  double run() {
    try {
      advance();
      const double value = choice();
      if (!token_.empty()) fail("an operator or the end is expected");
      return finite(value, "the value");
    } catch (const Error& error) {
      throw Error("expression '" + text_ + "': " + error.what());
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error((token_.empty() ? "at the end" : "at '" + token_ + "'") + ": " + problem);
  }
  void advance() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const std::size_t begin = at_;
    const auto c = [&](std::size_t i) { return at_ + i < text_.size() ? text_[at_ + i] : '\0'; };
    if (is_digit(c(0)) || (c(0) == '.' && is_digit(c(1)))) {
      while (is_digit(c(0)) || c(0) == '.') ++at_;
      const std::size_t digits = c(1) == '+' || c(1) == '-' ? 2 : 1;
      if ((c(0) == 'e' || c(0) == 'E') && is_digit(c(digits))) {
        at_ += digits;
        while (is_digit(c(0))) ++at_;
      }
    } else if (is_name(c(0))) {
      while (is_name(c(0))) ++at_;
    } else if (at_ < text_.size()) {
      const std::string two = text_.substr(at_, 2);
      for (const char* op : {"**", "//", "==", "!=", "<=", ">=", "&&", "||"}) at_ += two == op;
      ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }
  bool is(const char* token) const { return token_ == token; }
  bool take(const char* token) {
    if (!is(token)) return false;
    advance();
    return true;
  }
  void expect(const char* token) {
    if (!take(token)) fail(std::string("'") + token + "' is expected");
  }
  /// Reads by `rule` what only counts where `counts`.
  double read(double (Evaluation::*rule)(), bool counts) {
    if (++depth_ > kDeepest) fail("nested too deeply");
    const bool outer = std::exchange(live_, live_ && counts);
    const double value = (this->*rule)();
    live_ = outer;
    --depth_;
    return value;
  }
  double finite(double value, const char* what) const {
    if (live_ && !std::isfinite(value)) throw Error(std::string(what) + " is not finite");
    return value;
  }
  double divided(double a, double b) const {
    if (live_ && b == 0) throw Error("division by zero");
    return a / b;
  }
  double modulo(double a, double b) const {  // Python's: the sign of the divisor
    const double rest = live_ && b != 0 ? std::fmod(a, b) : divided(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }

  double choice() {
    const double condition = disjunction();
    if (!take("?")) return condition;
    const double yes = read(&Evaluation::choice, condition != 0);
    expect(":");
    const double no = read(&Evaluation::choice, condition == 0);
    return condition != 0 ? yes : no;
  }
  double disjunction() { return logical(&Evaluation::conjunction, "||", "or", true); }
  double conjunction() { return logical(&Evaluation::negation, "&&", "and", false); }
  /// The symbols give 1 or 0, the words the operand that decides: the first that is `deciding`.
  double logical(double (Evaluation::*rule)(), const char* symbol, const char* word,
                 bool deciding) {
    double value = (this->*rule)();
    bool is_truth = false;
    bool is_open = true;
    while (is(symbol) || is(word)) {
      if (is_open) is_truth = is_truth || is(symbol);
      is_open = is_open && (value != 0) != deciding;
      advance();
      const double next = read(rule, is_open);
      if (is_open) value = next;
    }
    return is_truth ? double(value != 0) : value;
  }
  double negation() {
    if (!take("not")) return comparison();
    return double(read(&Evaluation::negation, true) == 0);
  }
  double comparison() {
    double left = sum();
    if (!is_comparison() && !is("in") && !is("not")) return left;
    bool holds = true;
    while (is_comparison()) {  // a < b < c: both hold
      const std::string op = token_;
      advance();
      const double right = read(&Evaluation::sum, holds);
      const bool less = left < right;
      const bool equal = left == right;
      holds = holds && (op == "=="   ? equal
                        : op == "!=" ? left != right
                        : op == "<"  ? less
                        : op == "<=" ? left <= right
                        : op == ">"  ? left > right
                                     : left >= right);
      left = right;
    }
    if (!is("in") && !is("not")) return double(holds);
    const bool inverted = take("not");
    expect("in");
    const char* close = is("(") ? ")" : "]";
    if (!take("(")) expect("[");
    bool is_there = false;
    do {
      if (!is(close)) is_there = (read(&Evaluation::choice, holds) == left) || is_there;
    } while (take(","));
    expect(close);
    return double(holds && is_there != inverted);
  }
  bool is_comparison() const {
    return is("==") || is("!=") || is("<") || is("<=") || is(">") || is(">=");
  }
  double sum() {
    double value = product();
    while (is("+") || is("-")) {
      const double sign = is("+") ? 1 : -1;
      advance();
      value += sign * product();
    }
    return value;
  }
  double product() {
    double value = unary();
    while (is("*") || is("/") || is("//") || is("%")) {
      const std::string op = token_;
      advance();
      const double right = unary();
      value = op == "*"   ? value * right
              : op == "/" ? divided(value, right)
              : op == "%" ? modulo(value, right)
                          : std::round(divided(value - modulo(value, right), right));
    }
    return value;
  }
  double unary() {
    if (take("+")) return read(&Evaluation::unary, true);
    if (take("-")) return 0 - read(&Evaluation::unary, true);
    if (take("!")) return double(read(&Evaluation::unary, true) == 0);
    const double base = primary();
    if (!take("^") && !take("**")) return base;
    return finite(std::pow(base, read(&Evaluation::unary, true)), "a power");
  }
  double primary() {
    const std::string token = token_;
    if (take("(")) {
      const double inner = read(&Evaluation::choice, true);
      expect(")");
      return inner;
    }
    if (token.empty() || !(is_name(token[0]) || token[0] == '.')) fail("a value is expected");
    advance();
    if (is_digit(token[0]) || token[0] == '.') return number_from(token);
    if (token == "True" || token == "true") return 1;
    if (token == "False" || token == "false") return 0;
    if (is("(")) return function(token);
    const auto found = values_.find(token);
    if (found == values_.end()) throw Error("'" + token + "' is not known");
    return found->second;
  }
  double function(const std::string& name) {
    std::vector<double> x;
    do {
      advance();
      x.push_back(read(&Evaluation::choice, true));
    } while (is(","));
    expect(")");
    if (name == "min") return *std::min_element(x.begin(), x.end());
    if (name == "max") return *std::max_element(x.begin(), x.end());
    const bool takes_two = name == "ceil_div" || name == "floor_div" || name == "align_up";
    if (x.size() != (takes_two ? 2 : 1)) fail("another number of arguments is expected");
    if (name == "ceil_div") return std::ceil(divided(x[0], x[1]));
    if (name == "floor_div") return std::floor(divided(x[0], x[1]));
    if (name == "align_up") return std::ceil(divided(x[0], x[1])) * x[1];
    if (name == "floor") return std::floor(x[0]);
    if (name == "ceil") return std::ceil(x[0]);
    if (name == "round") return std::round(x[0]);
    if (name == "abs") return std::fabs(x[0]);
    if (name == "exp") return finite(std::exp(x[0]), "exp");
    if (live_ && name == "sqrt" && x[0] < 0) throw Error("square root of a negative number");
    if (name == "sqrt") return std::sqrt(x[0]);
    if (live_ && (name == "ln" || name == "log2") && x[0] <= 0)
      throw Error("logarithm of 0 or less");
    if (name == "ln" || name == "log2") return name == "ln" ? std::log(x[0]) : std::log2(x[0]);
    int exponent = 0;
    if (name == "is_pow2") return x[0] >= 1 && std::frexp(x[0], &exponent) == 0.5 ? 1 : 0;
    fail("there is no function " + name);
  }

  const std::string& text_;
  const Values& values_;
  std::string token_;  ///< empty at the end
  std::size_t at_ = 0;
  int depth_ = 0;
  bool live_ = true;
};

}  // namespace detail
}  // namespace v1
}  // namespace evo_tune

#endif  // EVO_TUNE_TEXT_HPP_V1
