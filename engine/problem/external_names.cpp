#include "engine/problem/external_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace evo {
namespace {

/// An expression for the largest dynamic shared memory of the kernel's steps, in bytes.
std::string dynamic_shared_bytes(const KernelSpec& kernel) {
  std::vector<std::string> all;
  for (const KernelStep& step : kernel.steps) {
    const std::string own = step.launch.dynamic_shared_bytes.text();
    all.push_back(step.when ? fmt::format("({}) != 0 ? ({}) : 0", step.when->text(), own) : own);
  }
  return all.size() == 1 ? all.front() : fmt::format("max({})", fmt::join(all, ", "));
}

}  // namespace

Formulas formulas_for_constraints(const Problem& problem, const KernelSpec& kernel,
                                  const Shape& timed, const DeviceInfo& device) {
  Formulas formulas = {{"SM_COUNT", formula_of(device.sm_count)},
                       {"MAX_THREADS_PER_CTA", formula_of(device.max_threads_per_cta)},
                       {"MAX_SHARED_BYTES_PER_CTA", formula_of(device.max_shared_bytes_per_cta)},
                       {"MAX_REGISTERS_PER_THREAD", formula_of(device.max_registers_per_thread)},
                       {"L2_BYTES", formula_of(static_cast<double>(device.l2_bytes))},
                       {"DYNAMIC_SHARED_BYTES", dynamic_shared_bytes(kernel)}};
  for (const auto& [name, value] : timed.variables) formulas[name] = formula_of(value);
  for (const auto& [name, value] : problem.macros_for(timed)) formulas[name] = formula_of(value);
  for (const auto& [name, text] : problem.let) formulas[name] = text;
  return formulas;
}

}  // namespace evo
