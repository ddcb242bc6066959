#include "engine/evaluate/kernel_key.hpp"

#include <cstdio>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/problem/tensor_map_argument.hpp"

namespace evo {
namespace {

/// Limit of the total size of a kernel's workspaces, far above the memory of any device.
constexpr double kMostWorkspaceBytes = 1099511627776.0;

std::string gigabytes(double bytes) {
  constexpr double kGiga = 1e9;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / kGiga);
  return text;
}

void add_number(ContentHash& hash, double number) {
  hash.add({reinterpret_cast<const char*>(&number), sizeof number});
}

/// Adds to `hash` the scalars whose values depend on the configuration.
void add_scalars(ContentHash& hash, const Problem& problem, const Values& values) {
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_set_by_macros || argument.tensor_map) continue;
    const std::vector<std::byte> bytes = argument.scalar_bytes(values);
    hash.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
}

void add_tensor_maps(ContentHash& hash, const Problem& problem, const KernelSpec& kernel,
                     const Values& values) {
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    if (!problem.arguments[i].tensor_map || !kernel.takes(i)) continue;
    const TensorMapSpec spec = tensor_map_of(problem, kernel, i, values);
    hash.add("tensor map");
    const auto add_all = [&](const auto& list) {
      for (const auto number : list) add_number(hash, static_cast<double>(number));
    };
    add_all(spec.dims);
    add_all(spec.strides);
    add_all(spec.box);
    add_all(spec.element_strides);
    add_number(hash, spec.swizzle_bytes);
    add_number(hash, spec.l2_promotion_bytes);
  }
}

/// Adds to `hash` the sizes of the buffers whose sizes depend on the configuration.
void add_workspaces(ContentHash& hash, const Problem& problem, const KernelSpec& kernel,
                    const Shape& shape, const Values& values) {
  double total = 0;
  for (const Argument& argument : problem.arguments) {
    if (!argument.belongs_to_kernel()) continue;
    const auto bytes = static_cast<double>(argument.bytes(values, kernel.extent_of(argument)));
    add_number(hash, bytes);
    total += bytes;
  }
  if (total > kMostWorkspaceBytes) {
    throw ProblemError("the workspaces take " + gigabytes(total) + " on shape '" + shape.name +
                       "'; no device has more than " + gigabytes(kMostWorkspaceBytes));
  }
}

void add_tolerance(ContentHash& hash, const Tolerance& tolerance, const Shape& shape) {
  for (const double bound : {tolerance.max_abs_error, tolerance.bad_abs_error, tolerance.bad_share,
                             tolerance.relative_l2, tolerance.max_row_error}) {
    if (!(bound >= 0)) {
      throw ProblemError("a tolerance has the value " + std::to_string(bound) + " on shape '" +
                         shape.name + "'; allowed: a number of at least 0");
    }
    add_number(hash, bound);
  }
}

void add_config(ContentHash& hash, const LaunchConfig& launch) {
  for (const auto& dimensions : {launch.grid, launch.block}) {
    for (const std::uint32_t size : dimensions) add_number(hash, size);
  }
  add_number(hash, launch.dynamic_shared_bytes);
}

/// Adds to `hash` the entries that a launch runs, their order, and the arguments that they take.
void add_steps(ContentHash& hash, const LaunchPlan& launch) {
  hash.add("steps").add(std::to_string(launch.steps.size()));
  for (const LaunchStep& step : launch.steps) {
    add_number(hash, static_cast<double>(step.entry));
    hash.add(step.arguments ? std::to_string(step.arguments->size()) : "all");
    if (!step.arguments) continue;
    for (const std::size_t position : *step.arguments) {
      add_number(hash, static_cast<double>(position));
    }
  }
}

void add_shape(ContentHash& hash, const Problem& problem, const KernelSpec& kernel,
               const Shape& shape, const Values& values) {
  hash.add(shape.name);
  const LaunchPlan launch = kernel.launch(values);
  if (!kernel.is_plain()) add_steps(hash, launch);
  for (const LaunchStep& step : launch.steps) add_config(hash, step.config);
  add_workspaces(hash, problem, kernel, shape, values);
  add_scalars(hash, problem, values);
  add_tensor_maps(hash, problem, kernel, values);
  add_tolerance(hash, kernel.tolerance.evaluate(values), shape);
  add_number(hash, kernel.deterministic ? 1 : 0);
  add_number(hash, kernel.independent_ctas.evaluate(values));
}

}  // namespace

std::string kernel_key(const std::string& ptx_hash, const std::vector<CompiledEntry>& entries,
                       const Problem& problem, const KernelSpec& kernel,
                       const std::vector<const Shape*>& timed, const Values& macros,
                       const DeviceInfo& device) {
  ContentHash hash;
  hash.add(ptx_hash);
  for (const CompiledEntry& entry : entries) hash.add(entry.symbol);
  for (const Shape* shape : problem.checked_shapes(timed, kernel)) {
    add_shape(hash, problem, kernel, *shape, problem.values_for(*shape, device.sm_count, macros));
  }
  return hash.hex();
}

}  // namespace evo
