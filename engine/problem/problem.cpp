#include "engine/problem/problem.hpp"

#include <cmath>
#include <limits>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr double kMaxGridX = 2147483647.0;  // CUDA C++ programming guide, compute capabilities
constexpr double kMaxGridYz = 65535.0;
constexpr double kMaxBlock = 1024.0;

std::uint32_t whole(const Expression& expression, const Values& values, double low, double high,
                    std::string_view what) {
  const double value = expression.evaluate(values);
  if (value != std::floor(value) || value < low || value > high) {
    throw ProblemError(std::string(what) + " '" + expression.text() + "' is " +
                       std::to_string(value) + "; allowed is a whole number from " +
                       std::to_string(static_cast<std::int64_t>(low)) + " to " +
                       std::to_string(static_cast<std::int64_t>(high)));
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::kIn:
      return "in";
    case Direction::kOut:
      return "out";
    case Direction::kInOut:
      return "inout";
    case Direction::kWorkspace:
      return "workspace";
    case Direction::kScalar:
      return "scalar";
  }
  return "unknown";
}

const Expression& KernelSpec::extent_of(const Argument& argument) const {
  const auto own = workspace.find(argument.name);
  return own == workspace.end() ? argument.size : own->second;
}

std::size_t Argument::bytes(const Values& values, const Expression& extent) const {
  const double count = extent.evaluate(values);
  constexpr double kMaxElements = 1e12;  // far above any device memory
  if (count < 0 || count != std::floor(count) || count > kMaxElements) {
    throw ProblemError("extent '" + extent.text() + "' of argument '" + name + "' is " +
                       std::to_string(count) + "; allowed is a whole number of elements");
  }
  return static_cast<std::size_t>(count) * size_of(dtype);
}

std::size_t Argument::row_length(const Values& values) const {
  if (!row) return 0;
  const double length = row->evaluate(values);
  const std::size_t elements = bytes(values) / size_of(dtype);
  const bool whole = length >= 1 && length == std::floor(length);
  if (!whole || std::fmod(static_cast<double>(elements), length) != 0) {
    throw ProblemError("row '" + row->text() + "' of argument '" + name + "' is " +
                       std::to_string(length) + "; allowed is a whole number that divides its " +
                       std::to_string(elements) + " elements");
  }
  return static_cast<std::size_t>(length);
}

LaunchConfig LaunchExpressions::evaluate(const Values& values) const {
  LaunchConfig config;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    config.grid[i] = whole(grid[i], values, 1, i == 0 ? kMaxGridX : kMaxGridYz, "grid");
  }
  for (std::size_t i = 0; i < block.size(); ++i) {
    config.block[i] = whole(block[i], values, 1, kMaxBlock, "block");
  }
  config.dynamic_shared_bytes =
      whole(dynamic_shared_bytes, values, 0, kMaxGridX, "dynamic_shared_bytes");
  return config;
}

Tolerance ToleranceExpressions::evaluate(const Values& values) const {
  Tolerance tolerance{max_abs_error.evaluate(values), bad_abs_error.evaluate(values),
                      bad_share.evaluate(values), relative_l2.evaluate(values)};
  if (max_row_error) tolerance.max_row_error = max_row_error->evaluate(values);
  return tolerance;
}

const Shape& Problem::shape(std::string_view shape_name) const {
  std::string known;
  for (const Shape& candidate : shapes) {
    if (candidate.name == shape_name) return candidate;
    known += (known.empty() ? "" : ", ") + candidate.name;
  }
  throw InputError("problem '" + name + "' has no shape '" + std::string(shape_name) +
                   "'; allowed: " + known);
}

const KernelSpec& Problem::kernel(std::string_view template_name) const {
  std::string known;
  for (const KernelSpec& candidate : templates) {
    if (candidate.name == template_name) return candidate;
    known += (known.empty() ? "" : ", ") + candidate.name;
  }
  throw InputError("problem '" + name + "' has no template '" + std::string(template_name) +
                   "'; allowed: " + known);
}

Values Problem::macros_for(const Shape& shape) const {
  Values macros;
  for (const auto& [macro, expression] : shape_macros) {
    macros[macro] = expression.evaluate(shape.variables);
  }
  return macros;
}

std::vector<const Shape*> Problem::checked_shapes(const Shape& timed,
                                                  const KernelSpec& kernel) const {
  const auto supports = [&](const Shape& shape) {
    return kernel.shapes_where.evaluate(shape.variables) != 0;
  };
  if (!supports(timed)) {
    throw InputError("template '" + kernel.name + "' of problem '" + name +
                     "' does not support shape '" + timed.name + "': it needs " +
                     kernel.shapes_where.text());
  }
  const Values macros = macros_for(timed);
  std::vector<const Shape*> checked = {&timed};
  for (const Shape& candidate : shapes) {
    if (candidate.check && candidate.name != timed.name && macros_for(candidate) == macros &&
        supports(candidate)) {
      checked.push_back(&candidate);
    }
  }
  return checked;
}

Values merged(std::initializer_list<const Values*> parts) {
  Values all;
  for (const Values* part : parts) {
    for (const auto& [name, value] : *part) all[name] = value;
  }
  return all;
}

}  // namespace evo
