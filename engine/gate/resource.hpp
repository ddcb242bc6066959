#pragma once

#include <cstdint>
#include <optional>

#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"
#include "engine/core/resource_policy.hpp"
#include "engine/device/device.hpp"

namespace evo {
/// The resource gate. `dynamic_shared_bytes`: of the largest launch. A kernel the device could run
/// is rejected with `policy_only` set. Nothing when it passes.
[[nodiscard]] std::optional<Rejection> resource_gate(const Resources& resources,
                                                     const LaunchConfig& launch,
                                                     const ResourcePolicy& policy,
                                                     const DeviceInfo& device);

}  // namespace evo
