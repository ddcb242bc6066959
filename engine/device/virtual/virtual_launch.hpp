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

/// Why a device of that model would refuse the launch, or nothing. `registers`: of the cubin; 0
/// when there is none.
[[nodiscard]] std::optional<Fault> launch_refusal(const DeviceModel& model, const Program& program,
                                                  int registers, const LaunchConfig& config);

/// Why CTAs that wait for each other cannot all be on the device at once, or nothing. `room`: CTAs
/// of this kernel that the device takes, `host_room`: that this host has memory for.
[[nodiscard]] std::optional<Fault> cooperative_refusal(std::uint64_t ctas, std::uint64_t room,
                                                       std::uint64_t host_room);

/// What kernels get for the objects of a device.
struct ArgumentValues {
  std::function<std::uint64_t(BufferId)> address;
  std::function<std::uint64_t(TextureId)> handle;
};

/// The kernel's parameters as it reads them; a fault when number or size of the arguments differ.
[[nodiscard]] std::variant<std::vector<std::byte>, Fault> pack_arguments(
    const Program& program, std::span<const KernelArgument> arguments,
    const ArgumentValues& values);

/// What the launch did wrong: the first hazard as the reason, all of them in the detail.
[[nodiscard]] std::optional<Fault> fault_of(const Program& program, const HazardLog& log);

/// Says how much shared memory a CTA of the launch has, and where what is reserved begins; the
/// bytes that are the kernel's own. A slice of a kernel uses none.
std::uint32_t place_shared_memory(LaunchContext& launch);

/// Makes the workspace of a cooperative launch as the driver does before each; its address.
[[nodiscard]] std::uint64_t clear_grid_workspace(GlobalBuffer& workspace);

}  // namespace evo::ptx
