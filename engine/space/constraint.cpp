#include "engine/space/constraint.hpp"

#include <algorithm>
#include <map>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Widest condition that is evaluated once and for all (2^16 evaluations take about 5 ms).
constexpr double kLargestTable = 65536;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

/// Removes parentheses that enclose the whole text.
std::string_view unwrap(std::string_view text) {
  text = trim(text);
  while (text.size() >= 2 && text.front() == '(' && text.back() == ')') {
    int depth = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) return text;  // the first parenthesis closes before the end
    }
    text = trim(text.substr(1, text.size() - 2));
  }
  return text;
}

/// Positions of && outside of parentheses; none when an operator that binds weaker is there too.
std::vector<std::size_t> outer_ands(std::string_view text) {
  std::vector<std::size_t> positions;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth != 0) continue;
    if (text[i] == '?' || text.substr(i, 2) == "||") return {};
    if (text.substr(i, 2) == "&&") positions.push_back(i++);
  }
  return positions;
}

std::map<std::string, std::size_t> index_by_macro(const std::vector<Parameter>& parameters) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < parameters.size(); ++i) index[parameters[i].macro] = i;
  return index;
}

std::string macro_list(const std::vector<Parameter>& parameters) {
  std::string list;
  for (const Parameter& parameter : parameters) {
    list.append(list.empty() ? "" : ", ").append(parameter.macro);
  }
  return list;
}

}  // namespace

std::vector<std::string> split_conjunction(std::string_view expression) {
  const std::string_view text = unwrap(expression);
  const std::vector<std::size_t> ands = outer_ands(text);
  if (ands.empty()) return {std::string(text)};
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= ands.size(); ++i) {
    const std::size_t end = i < ands.size() ? ands[i] : text.size();
    for (std::string& part : split_conjunction(text.substr(begin, end - begin))) {
      parts.push_back(std::move(part));
    }
    begin = end + 2;
  }
  return parts;
}

Constraint::Constraint(const std::string& expression, const std::vector<Parameter>& parameters)
    : parameters_(&parameters), expression_(expression, value_names(parameters)) {
  const std::map<std::string, std::size_t> index = index_by_macro(parameters);
  for (const std::string& name : expression_.variables()) {
    const auto found = index.find(name);
    if (found == index.end()) {
      throw InputError("'" + name +
                       "' is neither a macro nor a value name; macros: " + macro_list(parameters));
    }
    scope_.push_back(found->second);
    combinations_ *= static_cast<double>(parameters[found->second].values.size());
  }
  if (combinations_ <= kLargestTable) tabulate();
}

void Constraint::tabulate() {
  std::vector<std::uint16_t> choice(parameters_->size(), 0);
  table_.resize(static_cast<std::size_t>(combinations_));
  for (std::size_t entry = 0; entry < table_.size(); ++entry) {
    std::size_t rest = entry;
    for (const std::size_t parameter : scope_) {
      const std::size_t radix = (*parameters_)[parameter].values.size();
      choice[parameter] = static_cast<std::uint16_t>(rest % radix);
      rest /= radix;
    }
    table_[entry] = evaluate(choice);
  }
}

bool Constraint::evaluate(std::span<const std::uint16_t> choice) const {
  std::vector<double> values;
  values.reserve(scope_.size());
  for (const std::size_t parameter : scope_) {
    values.push_back((*parameters_)[parameter].values[choice[parameter]].number);
  }
  try {
    return expression_.evaluate(values) != 0.0;
  } catch (const InputError&) {
    return false;  // no finite value
  }
}

bool Constraint::holds(std::span<const std::uint16_t> choice) const {
  if (!is_tabulated()) return evaluate(choice);
  std::size_t entry = 0;
  std::size_t stride = 1;
  for (const std::size_t parameter : scope_) {
    entry += stride * choice[parameter];
    stride *= (*parameters_)[parameter].values.size();
  }
  return table_[entry];
}

}  // namespace evo
