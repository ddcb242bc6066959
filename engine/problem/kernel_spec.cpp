// KernelSpec: the steps of a kernel and their launches.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/problem/problem.hpp"

namespace evo {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"
constexpr double kMaxGridX = 2147483647.0;
constexpr double kMaxGridYz = 65535.0;
constexpr double kMaxBlock = 1024.0;

std::uint32_t whole(const Expression& expression, const Values& values, double low, double high,
                    std::string_view what) {
  const double value = expression.evaluate(values);
  if (value != std::floor(value) || value < low || value > high) {
    throw ProblemError(expression.described(values) + ": " + std::string(what) + " is " +
                       Json(value).dump() + "; allowed: a whole number from " +
                       std::to_string(static_cast<std::int64_t>(low)) + " to " +
                       std::to_string(static_cast<std::int64_t>(high)));
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t grid_size(const Expression& expression, std::size_t dimension, const Values& values) {
  return whole(expression, values, 1, dimension == 0 ? kMaxGridX : kMaxGridYz, "grid");
}

std::uint32_t block_size(const Expression& expression, const Values& values) {
  return whole(expression, values, 1, kMaxBlock, "block");
}

std::uint32_t shared_size(const Expression& expression, const Values& values) {
  return whole(expression, values, 0, kMaxGridX, "dynamic_shared_bytes");
}

}  // namespace

LaunchConfig LaunchExpressions::evaluate(const Values& values) const {
  LaunchConfig config;
  for (std::size_t i = 0; i < grid.size(); ++i) config.grid[i] = grid_size(grid[i], i, values);
  for (std::size_t i = 0; i < block.size(); ++i) config.block[i] = block_size(block[i], values);
  config.dynamic_shared_bytes = shared_size(dynamic_shared_bytes, values);
  return config;
}

void LaunchExpressions::check(const Values& known) const {
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (depends_only_on(grid[i], known)) (void)grid_size(grid[i], i, known);
  }
  for (const Expression& dimension : block) {
    if (depends_only_on(dimension, known)) (void)block_size(dimension, known);
  }
  if (depends_only_on(dynamic_shared_bytes, known)) {
    (void)shared_size(dynamic_shared_bytes, known);
  }
}

bool KernelSpec::takes(std::size_t position) const {
  return std::ranges::any_of(steps, [&](const KernelStep& step) {
    return !step.arguments || std::ranges::find(*step.arguments, position) != step.arguments->end();
  });
}

const Expression& KernelSpec::extent_of(const Argument& argument) const {
  const auto own = workspace.find(argument.name);
  return own == workspace.end() ? argument.size : own->second;
}

bool KernelSpec::is_plain() const {
  return steps.size() == 1 && !steps.front().arguments && !steps.front().when;
}

std::vector<std::string> KernelSpec::entries() const {
  std::vector<std::string> names;
  for (const KernelStep& step : steps) {
    if (std::ranges::find(names, step.entry) == names.end()) names.push_back(step.entry);
  }
  return names;
}

LaunchPlan KernelSpec::launch(const Values& values) const {
  const std::vector<std::string> names = entries();
  std::vector<LaunchStep> running;
  for (const KernelStep& step : steps) {
    if (!step.runs(values)) continue;
    const auto entry = std::ranges::find(names, step.entry) - names.begin();
    running.push_back(
        {step.launch.evaluate(values), static_cast<std::size_t>(entry), step.arguments});
  }
  if (running.empty()) {
    throw ProblemError(fmt::format("no step of '{}' runs: {}; allowed: at least one", name,
                                   steps.back().when->described(values)));
  }
  return LaunchPlan(std::move(running));
}

}  // namespace evo
