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

/// A limit of a space's policy that a kernel breaks.
struct PolicyMiss {
  std::string what;  ///< "registers", "shared bytes" or "spill bytes"
  std::int64_t value = 0;
  std::int64_t limit = 0;

  /// "registers 122 > 120".
  [[nodiscard]] std::string text() const;
  /// How far above: value / limit, or 1 + value where nothing is allowed.
  [[nodiscard]] double excess() const;
};

/// Every limit of the policy that the kernel breaks. `shared_bytes`: static and dynamic.
[[nodiscard]] std::vector<PolicyMiss> policy_misses(const Resources& resources,
                                                    std::int64_t shared_bytes,
                                                    const ResourcePolicy& policy);

/// The same over the steps of a launch, of each limit where it is broken most. `entries`: those
/// that the steps name.
[[nodiscard]] std::vector<PolicyMiss> policy_misses(const std::vector<CompiledEntry>& entries,
                                                    const LaunchPlan& plan,
                                                    const ResourcePolicy& policy);

/// Static and dynamic shared memory of a CTA, of the step that has most.
[[nodiscard]] std::int64_t largest_shared_bytes(const std::vector<CompiledEntry>& entries,
                                                const LaunchPlan& plan);

/// The resource gate of all steps: reasons name their step where there are several. Where the
/// device cannot run a step, what the policy forbids is not said. `names`: of the entries in C++.
[[nodiscard]] std::optional<Rejection> resource_gate(const std::vector<CompiledEntry>& entries,
                                                     const std::vector<std::string>& names,
                                                     const LaunchPlan& plan,
                                                     const ResourcePolicy& policy,
                                                     const DeviceInfo& device);

/// The resource gate of one kernel: what the launch asks for against the kernel's own bound on the
/// threads of a CTA, the device and the policy. A kernel the device could run is rejected with
/// `policy_only` set. Nothing when it passes.
[[nodiscard]] std::optional<Rejection> resource_gate(const Resources& resources,
                                                     const LaunchConfig& launch,
                                                     const ResourcePolicy& policy,
                                                     const DeviceInfo& device);

}  // namespace evo
