#include "engine/space/parameter.hpp"

#include <algorithm>
#include <cctype>

namespace evo {

std::string ParameterValue::macro_text() const {
  switch (kind) {
    case Kind::kBoolean:
    case Kind::kName:
      return std::to_string(static_cast<int>(number));
    case Kind::kInteger:
    case Kind::kReal:
      break;
  }
  return text;
}

bool Parameter::is_ordered() const {
  return !has_names() && std::is_sorted(values.begin(), values.end(),
                                        [](const ParameterValue& a, const ParameterValue& b) {
                                          return a.number < b.number;
                                        });
}

std::string Parameter::allowed() const {
  constexpr std::size_t kShown = 50;
  std::string list;
  for (std::size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    list.append(i == 0 ? "" : ", ").append(values[i].text);
  }
  if (values.size() > kShown) list += ", … (" + std::to_string(values.size()) + " values)";
  return list;
}

std::string value_name(const Parameter& parameter, std::size_t value) {
  std::string name = parameter.macro + "_" + parameter.values[value].text;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::map<std::string, double> value_names(const std::vector<Parameter>& parameters) {
  std::map<std::string, double> names;
  for (const Parameter& parameter : parameters) {
    if (!parameter.has_names()) continue;
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      names[value_name(parameter, i)] = parameter.values[i].number;
    }
  }
  return names;
}

}  // namespace evo
