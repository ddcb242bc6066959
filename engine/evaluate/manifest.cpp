#include "engine/evaluate/manifest.hpp"

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

/// Returns an expression as text, which users can evaluate for other shapes, and its value for
/// `values`.
OrderedJson evaluated(const Expression& expression, const Values& values) {
  return {{"expression", expression.text()}, {"value", number(expression.evaluate(values))}};
}

OrderedJson evaluated(const std::vector<Expression>& expressions, const Values& values) {
  OrderedJson list = OrderedJson::array();
  for (const Expression& expression : expressions) list.push_back(evaluated(expression, values));
  return list;
}

OrderedJson integer_json(bool is_signed, std::uint64_t bits) {
  return is_signed ? OrderedJson(static_cast<std::int64_t>(bits)) : OrderedJson(bits);
}

OrderedJson generator_json(const Generator& generator) {
  switch (generator.distribution) {
    case Distribution::kNormal:
      return {{"distribution", "normal"}, {"mean", generator.first}, {"std", generator.second}};
    case Distribution::kUniform:
      return {{"distribution", "uniform"}, {"low", generator.first}, {"high", generator.second}};
    case Distribution::kIntegers:
      return {{"distribution", "integers"},
              {"low", integer_json(generator.integers.is_signed, generator.integers.low)},
              {"high", integer_json(generator.integers.is_signed, generator.integers.high)}};
    case Distribution::kConstant:
      return {{"distribution", "constant"}, {"value", generator.first}};
  }
  return nullptr;
}

OrderedJson content_json(const Argument& argument) {
  if (argument.formula) return {{"formula", argument.formula->text()}};
  if (!argument.file.empty() && !argument.has_file_and_generator) return {{"file", argument.file}};
  return generator_json(argument.generator);
}

OrderedJson structure_json(const Argument& argument, const Values& values) {
  OrderedJson fields = OrderedJson::array();
  for (const Field& field : argument.fields) {
    fields.push_back({{"name", field.name},
                      {"dtype", std::string(to_string(field.dtype))},
                      {"value", evaluated(field.value, values)}});
  }
  return {{"name", argument.name},
          {"direction", std::string(to_string(argument.direction))},
          {"fields", fields}};
}

/// The arguments of cuTexObjectCreate; sizes are in texels.
OrderedJson texture_json(const Argument& argument, const Values& values) {
  const TextureSpec spec = argument.texture_spec(values);
  OrderedJson json = {{"kind", "texture"},
                      {"memory", to_string(spec.storage)},
                      {"channels", spec.channels},
                      {"width", spec.width}};
  if (spec.height > 0) json["height"] = spec.height;
  json["filter"] = spec.linear_filter ? "linear" : "point";
  json["address_x"] = to_string(spec.address[0]);
  json["address_y"] = to_string(spec.address[1]);
  json["normalized_coordinates"] = spec.normalized_coordinates;
  json["normalized_values"] = spec.normalized_values;
  return json;
}

/// Arguments of cuTensorMapEncodeTiled, the innermost dimension first.
OrderedJson tensor_map_json(const Argument& argument, const Values& values) {
  const TensorMapSetup& map = *argument.tensor_map;
  OrderedJson json = {{"name", argument.name},
                      {"direction", std::string(to_string(argument.direction))},
                      {"of", map.of},
                      {"dims", evaluated(map.dims, values)},
                      {"box", evaluated(map.box, values)},
                      {"swizzle", evaluated(map.swizzle, values)},
                      {"l2_promotion", evaluated(map.l2_promotion, values)}};
  if (!map.strides.empty()) json["strides"] = evaluated(map.strides, values);
  if (!map.element_strides.empty())
    json["element_strides"] = evaluated(map.element_strides, values);
  return json;
}

OrderedJson argument_json(const Argument& argument, const KernelSpec& kernel,
                          const Values& values) {
  if (argument.tensor_map) return tensor_map_json(argument, values);
  if (!argument.fields.empty()) return structure_json(argument, values);
  OrderedJson json = {{"name", argument.name},
                      {"direction", std::string(to_string(argument.direction))},
                      {"dtype", std::string(to_string(argument.dtype))}};
  const bool scalar = argument.direction == Direction::kScalar;
  json[scalar ? "value" : "extent"] = evaluated(kernel.extent_of(argument), values);
  if (!argument.is_compared) json["compare"] = false;
  if (argument.compared) json["compare"] = evaluated(*argument.compared, values);
  if (argument.row) json["row"] = evaluated(*argument.row, values);
  if (argument.is_constant()) {
    json["kind"] = "constant";
    json["symbol"] = argument.symbol;
  }
  if (argument.texture) json.update(texture_json(argument, values));
  if (argument.is_input()) json["generator"] = content_json(argument);
  return json;
}

OrderedJson launch_json(const LaunchExpressions& launch, const Values& values) {
  return {{"grid", evaluated(launch.grid, values)},
          {"block", evaluated(launch.block, values)},
          {"dynamic_shared_bytes", evaluated(launch.dynamic_shared_bytes, values)}};
}

/// The launch expressions without values, for a step that does not run on the shape.
OrderedJson launch_json(const LaunchExpressions& launch) {
  const auto texts = [](const std::vector<Expression>& expressions) {
    OrderedJson list = OrderedJson::array();
    for (const Expression& expression : expressions) {
      list.push_back({{"expression", expression.text()}});
    }
    return list;
  };
  return {{"grid", texts(launch.grid)},
          {"block", texts(launch.block)},
          {"dynamic_shared_bytes", {{"expression", launch.dynamic_shared_bytes.text()}}}};
}

/// The names of a step's arguments, in the order of its parameters.
OrderedJson names_of(const KernelStep& step, const std::vector<Argument>& arguments) {
  OrderedJson names = OrderedJson::array();
  if (step.arguments) {
    for (const std::size_t position : *step.arguments) names.push_back(arguments[position].name);
    return names;
  }
  for (const Argument& argument : arguments) {
    if (!argument.is_constant()) names.push_back(argument.name);
  }
  return names;
}

OrderedJson steps_json(const Problem& problem, const KernelSpec& kernel, const Values& values) {
  OrderedJson steps = OrderedJson::array();
  for (const KernelStep& step : kernel.steps) {
    const bool runs = step.runs(values);
    OrderedJson json = {{"entry", step.entry}, {"runs", runs}};
    if (step.when) json["when"] = evaluated(*step.when, values);
    json["arguments"] = names_of(step, problem.arguments);
    json["launch"] = runs ? launch_json(step.launch, values) : launch_json(step.launch);
    steps.push_back(std::move(json));
  }
  return steps;
}

}  // namespace

std::string launch_manifest(const Problem& problem, const KernelSpec& kernel, const Shape& shape,
                            const Values& macros, const DeviceInfo& device,
                            const std::vector<ShapeCondition>& valid) {
  const Values shape_macros = problem.macros_for(shape);
  const Values values = problem.values_for(shape, device.sm_count, macros);
  const Tolerance tolerance = kernel.tolerance.evaluate(values);
  OrderedJson arguments = OrderedJson::array();
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.tensor_map && !kernel.takes(i)) continue;
    arguments.push_back(argument_json(argument, kernel, values));
  }
  OrderedJson manifest = {
      {"entry", kernel.steps.front().entry},
      {"template", kernel.name},
      {"shape", {{"name", shape.name}, {"variables", numbers(shape.variables)}}},
      {"sm_count", device.sm_count},
      {"macros", numbers(merged({&macros, &shape_macros}))},
      {"arguments", arguments},
      {"workspace",
       "zero before the first launch; each launch leaves the workspace ready for the next launch"},
      {"launch", kernel.is_plain() ? launch_json(kernel.steps.front().launch, values) : nullptr},
      {"tolerance",
       {{"max_abs_error", tolerance.max_abs_error},
        {"bad_abs_error", tolerance.bad_abs_error},
        {"bad_share", tolerance.bad_share},
        {"relative_l2", tolerance.relative_l2}}}};
  if (!kernel.is_plain()) {
    manifest.erase("entry");
    manifest.erase("launch");
    manifest["steps"] = steps_json(problem, kernel, values);
  }
  if (kernel.tolerance.max_row_error) {
    manifest["tolerance"]["max_row_error"] = tolerance.max_row_error;
  }
  manifest["valid"] = OrderedJson::array();
  for (const ShapeCondition& condition : valid) {
    manifest["valid"].push_back({{"expression", condition.expression}, {"why", condition.why}});
  }
  return manifest.dump();
}

}  // namespace evo
