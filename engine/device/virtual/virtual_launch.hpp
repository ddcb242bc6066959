#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/launch_context.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/device/virtual/timing/device_model.hpp"

namespace evo::ptx {

/// Why a device of that model would refuse the launch; nullopt if it would not. `registers`: from
/// the cubin; 0 without one.
[[nodiscard]] std::optional<Fault> launch_refusal(const DeviceModel& model, const Program& program,
                                                  int registers, const LaunchConfig& config);

/// Why CTAs that wait for each other cannot all be resident at once; nullopt if they can. `room`:
/// number of CTAs that fit the device; `host_room`: number for which this host has memory.
[[nodiscard]] std::optional<Fault> cooperative_refusal(std::uint64_t ctas, std::uint64_t room,
                                                       std::uint64_t host_room);

/// The addresses of buffers and the handles of textures that kernels receive as arguments.
struct ArgumentValues {
  std::function<std::uint64_t(BufferId)> address;
  std::function<std::uint64_t(TextureId)> handle;
};

/// The kernel's parameter block; a fault if number or size of the arguments differ.
[[nodiscard]] std::variant<std::vector<std::byte>, Fault> pack_arguments(
    const Program& program, std::span<const KernelArgument> arguments,
    const ArgumentValues& values);

/// A launch's fault: the first hazard as the reason, and all hazards in the detail.
[[nodiscard]] std::optional<Fault> fault_of(const Program& program, const HazardLog& log);

/// Sets the shared memory of a CTA of the launch, and the start of the reserved part. Returns the
/// size of the kernel's own part. A slice of a kernel uses no shared memory.
std::uint32_t place_shared_memory(LaunchContext& launch);

/// Creates the workspace of a cooperative launch, as the driver does before each one; returns its
/// address.
[[nodiscard]] std::uint64_t clear_grid_workspace(GlobalBuffer& workspace);

}  // namespace evo::ptx
