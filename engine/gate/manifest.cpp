#include "engine/gate/manifest.hpp"

#include <nlohmann/json.hpp>

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? OrderedJson(whole) : OrderedJson(value);
}

OrderedJson numbers(const Values& values) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [name, value] : values) object[name] = number(value);
  return object;
}

OrderedJson texts(const std::vector<Expression>& expressions) {
  OrderedJson list = OrderedJson::array();
  for (const Expression& expression : expressions) list.push_back(expression.text());
  return list;
}

OrderedJson generator_json(const Generator& generator) {
  switch (generator.distribution) {
    case Distribution::kNormal:
      return {{"distribution", "normal"}, {"mean", generator.first}, {"std", generator.second}};
    case Distribution::kUniform:
      return {{"distribution", "uniform"}, {"low", generator.first}, {"high", generator.second}};
    case Distribution::kIntegers:
      return {{"distribution", "integers"}, {"low", generator.first}, {"high", generator.second}};
    case Distribution::kConstant:
      return {{"distribution", "constant"}, {"value", generator.first}};
  }
  return nullptr;
}

OrderedJson argument_json(const Argument& argument, const Values& values) {
  OrderedJson json = {{"name", argument.name},
                      {"direction", std::string(to_string(argument.direction))},
                      {"dtype", std::string(to_string(argument.dtype))}};
  if (argument.direction == Direction::kScalar) {
    json["value"] = argument.size.text();
    json["evaluated"] = number(argument.size.evaluate(values));
    return json;
  }
  json["extent"] = argument.size.text();
  json["elements"] = argument.bytes(values) / size_of(argument.dtype);
  if (argument.direction == Direction::kWorkspace) {
    json["note"] = "zero it once; every launch leaves it ready for the next";
  }
  if (argument.direction == Direction::kIn || argument.direction == Direction::kInOut) {
    json["generator"] = generator_json(argument.generator);
  }
  return json;
}

}  // namespace

std::string launch_manifest(const Problem& problem, const KernelSpec& kernel, const Shape& shape,
                            const Values& macros, const DeviceInfo& device) {
  const Values shape_macros = problem.macros_for(shape);
  const Values device_values = {{"SM_COUNT", device.sm_count}};
  const Values values = merged({&macros, &shape.variables, &shape_macros, &device_values});
  const LaunchConfig launch = kernel.launch.evaluate(values);
  const Tolerance tolerance = kernel.tolerance.evaluate(values);
  OrderedJson arguments = OrderedJson::array();
  for (const Argument& argument : problem.arguments) {
    arguments.push_back(argument_json(argument, values));
  }
  const OrderedJson manifest = {
      {"entry", kernel.entry},
      {"template", kernel.name},
      {"shape", shape.name},
      {"variables", numbers(shape.variables)},
      {"macros", numbers(merged({&macros, &shape_macros}))},
      {"sm_count", device.sm_count},
      {"arguments", arguments},
      {"launch",
       {{"grid", launch.grid},
        {"block", launch.block},
        {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
        {"expressions",
         {{"grid", texts(kernel.launch.grid)},
          {"block", texts(kernel.launch.block)},
          {"dynamic_shared_bytes", kernel.launch.dynamic_shared_bytes.text()}}}}},
      {"tolerance",
       {{"max_abs_error", tolerance.max_abs_error},
        {"bad_abs_error", tolerance.bad_abs_error},
        {"bad_share", tolerance.bad_share},
        {"relative_l2", tolerance.relative_l2}}}};
  return manifest.dump();
}

}  // namespace evo
