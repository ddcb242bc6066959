#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/compile/entry_symbol.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"
#include "engine/core/resource_policy.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// A limit of a space's policy that a kernel exceeds.
struct PolicyMiss {
  std::string what;  ///< "registers", "shared bytes" or "spill bytes"
  std::int64_t value = 0;
  std::int64_t limit = 0;

  /// "registers 122 > 120".
  [[nodiscard]] std::string text() const;
  /// By how much the kernel exceeds the limit: value / limit, or 1 + value if the limit is 0.
  [[nodiscard]] double excess() const;
};

/// Every limit of the policy that the kernel exceeds. `shared_bytes`: static and dynamic shared
/// memory per CTA.
[[nodiscard]] std::vector<PolicyMiss> policy_misses(const Resources& resources,
                                                    std::int64_t shared_bytes,
                                                    const ResourcePolicy& policy);

/// Every limit of the policy that a step of a launch exceeds, each with its largest excess over all
/// steps. `entries`: the compiled kernels of the steps.
[[nodiscard]] std::vector<PolicyMiss> policy_misses(const std::vector<CompiledEntry>& entries,
                                                    const LaunchPlan& plan,
                                                    const ResourcePolicy& policy);

/// Static and dynamic shared memory per CTA, in bytes, of the step that uses the most shared
/// memory.
[[nodiscard]] std::int64_t largest_shared_bytes(const std::vector<CompiledEntry>& entries,
                                                const LaunchPlan& plan);

/// The resource gate of all steps of a launch. If there are several steps, the reason of a
/// rejection names the step. If the device cannot run a step, violations of the policy are not
/// reported. `names`: C++ names of the kernels in `entries`.
[[nodiscard]] std::optional<Rejection> resource_gate(const std::vector<CompiledEntry>& entries,
                                                     const std::vector<std::string>& names,
                                                     const LaunchPlan& plan,
                                                     const ResourcePolicy& policy,
                                                     const DeviceInfo& device);

/// The resource gate of one kernel. Compares the launch with the kernel's __launch_bounds__, the
/// limits of the device, an SM's register file and the policy. If the device could run a rejected
/// kernel, `policy_only` is set. Returns nullopt if the kernel passes.
[[nodiscard]] std::optional<Rejection> resource_gate(const Resources& resources,
                                                     const LaunchConfig& launch,
                                                     const ResourcePolicy& policy,
                                                     const DeviceInfo& device);

}  // namespace evo
