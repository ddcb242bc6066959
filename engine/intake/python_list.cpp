#include "engine/intake/python_list.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/names.hpp"

namespace evo {
namespace {

using NamedValues = std::map<std::string, double>;

constexpr std::size_t kMostValues = 65535;  ///< limit of the number of values
constexpr double kExact = 0x1.0p53;

bool is_word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Calls `visit(position)` at positions outside of brackets and quotes, until `visit` returns
/// false.
template <typename Visit>
void for_each_outside(std::string_view text, Visit visit) {
  int depth = 0;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && quote == 0 && !visit(at)) return;
    if (c == '(' || c == '[') ++depth;
  }
}

std::optional<std::size_t> find_word(std::string_view text, std::string_view word) {
  std::optional<std::size_t> found;
  for_each_outside(text, [&](std::size_t at) {
    const bool begins = at == 0 || !is_word_part(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && text.substr(at).starts_with(word) &&
        (end == text.size() || !is_word_part(text[end]))) {
      found = at;
    }
    return !found.has_value();
  });
  return found;
}

[[noreturn]] void fail(std::string_view text) {
  throw InputError("'" + std::string(text) +
                   "': allowed: a list of numbers or texts as in Python: [1, 2], "
                   "list(range(1, 9)), [2**i for i in range(5)], or a sum of lists");
}

double number(std::string_view text, const NamedValues& names) {
  return Expression(std::string(text)).evaluate(names);
}

Json scalar(std::string_view text, const NamedValues& names) {
  if (text == "True") return true;
  if (text == "False") return false;
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) {
    return std::string(text.substr(1, text.size() - 2));
  }
  if (text.empty()) fail(text);
  const double value = number(text, names);
  const bool is_real = text.find('.') != std::string_view::npos || value != std::floor(value) ||
                       std::fabs(value) >= kExact;
  if (is_real) return value;
  return static_cast<std::int64_t>(value);
}

/// Sorts values as Python does: numbers and booleans by value, texts by their characters. Throws
/// InputError for a mixture of numbers and texts.
void sort_as_python(std::vector<Json>& values) {
  const auto is_text = [](const Json& value) { return value.is_string(); };
  if (std::ranges::all_of(values, is_text)) {
    std::ranges::sort(values);
    return;
  }
  if (std::ranges::any_of(values, is_text)) {
    throw InputError("sorted(): numbers and texts together cannot be sorted");
  }
  std::ranges::stable_sort(values, {}, [](const Json& value) {
    return value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>();
  });
}

class ListReader {
 public:
  std::vector<Json> list(std::string_view text, const NamedValues& names) {
    text = trimmed(text);
    std::vector<Json> values;
    const std::vector<std::string_view> terms = split_outside(text, '+');
    for (const std::string_view term : terms) {
      for (Json& value : of_term(term, names)) add(values, std::move(value));
    }
    if (terms.empty()) fail(text);
    return values;
  }

 private:
  static void add(std::vector<Json>& values, Json value) {
    if (values.size() == kMostValues) throw InputError("more than 65535 values");
    values.push_back(std::move(value));
  }

  /// The text between `open`, such as "range(" or "[", and `close`; nullopt for any other text.
  static std::optional<std::string_view> inside(std::string_view text, std::string_view open,
                                                char close) {
    if (!text.starts_with(open) || !text.ends_with(close)) return std::nullopt;
    return text.substr(open.size(), text.size() - open.size() - 1);
  }

  std::vector<Json> of_term(std::string_view text, const NamedValues& names) {
    if (const auto body = inside(text, "[", ']')) return of_body(*body, names);
    if (const auto body = inside(text, "(", ')')) return of_body(*body, names);
    if (const auto body = inside(text, "range(", ')')) return of_range(*body, names);
    for (const std::string_view name : {"list(", "tuple(", "sorted("}) {
      if (const auto body = inside(text, name, ')')) {
        std::vector<Json> values =
            find_word(*body, "for") ? of_body(*body, names) : list(*body, names);
        if (name == "sorted(") sort_as_python(values);
        return values;
      }
    }
    fail(text);
  }

  std::vector<Json> of_body(std::string_view body, const NamedValues& names) {
    std::vector<Json> values;
    if (const auto loop = find_word(body, "for")) {
      comprehend(trimmed(body.substr(0, *loop)), body.substr(*loop), names, values);
      return values;
    }
    std::vector<std::string_view> entries = split_outside(body, ',');
    if (!entries.empty() && entries.back().empty()) entries.pop_back();  // a trailing comma
    for (const std::string_view entry : entries) add(values, scalar(entry, names));
    return values;
  }

  /// Evaluates a Python list comprehension: `entry`, its expression, for each value of the loops in
  /// `rest`, "for i in … [if …] [for …]".
  void comprehend(std::string_view entry, std::string_view rest, const NamedValues& names,
                  std::vector<Json>& values) {
    rest.remove_prefix(std::string_view("for").size());
    const auto in = find_word(rest, "in");
    if (!in) fail(rest);
    const std::string name(trimmed(rest.substr(0, *in)));
    if (!is_identifier(name)) fail(rest);
    rest.remove_prefix(*in + std::string_view("in").size());
    const auto next_for = find_word(rest, "for");
    std::string_view source = rest.substr(0, next_for.value_or(rest.size()));
    std::optional<std::string_view> condition;
    if (const auto when = find_word(source, "if")) {
      condition = trimmed(source.substr(*when + std::string_view("if").size()));
      source = source.substr(0, *when);
    }
    for (const Json& value : list(source, names)) {
      if (!value.is_number() && !value.is_boolean()) fail(source);
      NamedValues inner = names;
      inner[name] = value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>();
      if (++steps_ > kMostSteps) throw InputError("more than 100000 steps");
      if (condition && number(*condition, inner) == 0) continue;
      if (next_for) {
        comprehend(entry, rest.substr(*next_for), inner, values);
      } else {
        add(values, scalar(entry, inner));
      }
    }
  }

  std::vector<Json> of_range(std::string_view body, const NamedValues& names) {
    std::vector<double> bounds;
    for (const std::string_view bound : split_outside(body, ',')) {
      bounds.push_back(number(bound, names));
      if (bounds.back() != std::floor(bounds.back()) || std::fabs(bounds.back()) >= kExact) {
        fail(body);
      }
    }
    if (bounds.empty() || bounds.size() > 3) fail(body);
    const double from = bounds.size() == 1 ? 0 : bounds[0];
    const double to = bounds.size() == 1 ? bounds[0] : bounds[1];
    const double step = bounds.size() == 3 ? bounds[2] : 1;
    if (step == 0) fail(body);
    std::vector<Json> values;
    for (double value = from; step > 0 ? value < to : value > to; value += step) {
      add(values, static_cast<std::int64_t>(value));
    }
    return values;
  }

  static constexpr int kMostSteps = 100'000;
  int steps_ = 0;
};

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (trimmed(text).empty()) return parts;
  std::size_t begin = 0;
  for_each_outside(text, [&](std::size_t at) {
    if (text[at] == separator) {
      parts.push_back(trimmed(text.substr(begin, at - begin)));
      begin = at + 1;
    }
    return true;
  });
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

std::vector<Json> python_list(std::string_view text) { return ListReader().list(text, {}); }

}  // namespace evo
