#include "engine/problem/tensor_map_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/problem/argument_json.hpp"
#include "engine/problem/tensor_map_type.hpp"

namespace evo {
namespace {

/// Evaluates an expression of a tensor map to a whole number ≥ 0; check_tensor_map() checks whether
/// CUDA allows the number.
std::uint64_t whole(const Argument& argument, const char* key, const Expression& expression,
                    const Values& values) {
  constexpr double kMost = 0x1.0p48;
  const double value = expression.evaluate(values);
  if (value == std::floor(value) && value >= 0 && value <= kMost)
    return static_cast<std::uint64_t>(value);
  throw ProblemError(fmt::format("{}: {} of tensor map '{}' is {}; allowed: a whole number",
                                 expression.described(values), key, argument.name,
                                 Json(value).dump()));
}

template <typename T>
std::vector<T> numbers(const Argument& argument, const char* key,
                       const std::vector<Expression>& expressions, const Values& values) {
  std::vector<T> list;
  list.reserve(expressions.size());
  for (const Expression& expression : expressions) {
    list.push_back(static_cast<T>(std::min<std::uint64_t>(whole(argument, key, expression, values),
                                                          std::numeric_limits<T>::max())));
  }
  return list;
}

/// Makes each step without a list of arguments take all arguments except tensor maps.
void leave_out_maps(KernelSpec& kernel, const std::vector<std::size_t>& others) {
  for (KernelStep& step : kernel.steps) {
    if (!step.arguments) step.arguments = others;
  }
}

[[noreturn]] void fail(const Problem& problem, const Argument& argument, const std::string& what) {
  throw ProblemError(fmt::format("{}: arguments: {}.{}", (problem.folder / "problem.json").string(),
                                 argument.name, what));
}

void find_buffer(const Problem& problem, const Argument& argument, TensorMapSetup& map) {
  const auto named = std::ranges::find(problem.arguments, map.of, &Argument::name);
  const bool is_buffer = named != problem.arguments.end() && !named->is_constant() &&
                         !named->texture && !named->tensor_map &&
                         named->direction != Direction::kScalar;
  if (!is_buffer) {
    fail(problem, argument,
         fmt::format("of: \"{}\": allowed: the name of an in, out, inout or workspace argument",
                     map.of));
  }
  map.position = static_cast<std::size_t>(named - problem.arguments.begin());
}

}  // namespace

Argument parse_tensor_map(const JsonReader& reader, const std::string& name) {
  Argument argument{
      name, Direction::kTensorMap, Dtype::kU8, Expression(std::to_string(kTensorMapBytes)), {}};
  TensorMapSetup map{.of = reader.string("of"),
                     .dims = parse_expressions(reader, "dims", kMostTensorDimensions),
                     .strides = {},
                     .box = parse_expressions(reader, "box", kMostTensorDimensions),
                     .element_strides = {},
                     .swizzle = parse_expression(reader, "swizzle", "0"),
                     .l2_promotion = parse_expression(reader, "l2_promotion", "0")};
  if (reader.has("strides"))
    map.strides = parse_expressions(reader, "strides", kMostTensorDimensions - 1);
  if (reader.has("element_strides"))
    map.element_strides = parse_expressions(reader, "element_strides", kMostTensorDimensions);
  argument.tensor_map = std::move(map);
  return argument;
}

void place_tensor_maps(Problem& problem) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    if (!problem.arguments[i].tensor_map) {
      others.push_back(i);
      continue;
    }
    TensorMapSetup& map = *problem.arguments[i].tensor_map;
    find_buffer(problem, problem.arguments[i], map);
  }
  if (others.size() == problem.arguments.size()) return;
  std::erase_if(others, [&](std::size_t i) { return problem.arguments[i].is_constant(); });
  for (KernelSpec& kernel : problem.templates) leave_out_maps(kernel, others);
  if (problem.reference.kernel) leave_out_maps(*problem.reference.kernel, others);
}

TensorMapSpec tensor_map_of(const Problem& problem, const KernelSpec& kernel, std::size_t position,
                            const Values& values) {
  const Argument& argument = problem.arguments[position];
  const TensorMapSetup& map = *argument.tensor_map;
  const Argument& buffer = problem.arguments[map.position];
  TensorMapSpec spec;
  spec.name = argument.name;
  spec.type = tensor_map_type(buffer.dtype);
  spec.dims = numbers<std::uint64_t>(argument, "dims", map.dims, values);
  spec.strides = map.strides.empty()
                     ? dense_strides(spec.dims, spec.type)
                     : numbers<std::uint64_t>(argument, "strides", map.strides, values);
  spec.box = numbers<std::uint32_t>(argument, "box", map.box, values);
  spec.element_strides.assign(spec.dims.size(), 1);
  if (!map.element_strides.empty()) {
    spec.element_strides =
        numbers<std::uint32_t>(argument, "element_strides", map.element_strides, values);
  }
  spec.swizzle_bytes = static_cast<std::uint32_t>(whole(argument, "swizzle", map.swizzle, values));
  spec.l2_promotion_bytes =
      static_cast<std::uint32_t>(whole(argument, "l2_promotion", map.l2_promotion, values));
  try {
    check_tensor_map(spec, buffer.bytes(values, kernel.extent_of(buffer)));
  } catch (const InputError& error) {
    throw ProblemError(error.what());
  }
  return spec;
}

void check_tensor_maps(const Problem& problem, const KernelSpec& kernel, const Values& values) {
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.tensor_map || !kernel.takes(i)) continue;
    const Argument& buffer = problem.arguments[argument.tensor_map->position];
    bool is_known = depends_only_on(kernel.extent_of(buffer), values);
    for (const auto& [key, expression] : argument.scalar_expressions())
      is_known = is_known && depends_only_on(*expression, values);
    if (is_known) (void)tensor_map_of(problem, kernel, i, values);
  }
}

}  // namespace evo
