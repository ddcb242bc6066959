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

/// The reason why a GPU of this model would refuse the launch; nullopt if it would accept the
/// launch. `registers`: registers per thread from the cubin; 0 if there is no cubin.
[[nodiscard]] std::optional<Fault> launch_refusal(const DeviceModel& model, const Program& program,
                                                  int registers, const LaunchConfig& config);

/// The reason why the CTAs of a cooperative launch cannot all be resident at once; nullopt if they
/// can. `room`: the number of CTAs that can be resident on the device. `host_room`: the number of
/// CTAs for which this host has memory.
[[nodiscard]] std::optional<Fault> cooperative_refusal(std::uint64_t ctas, std::uint64_t room,
                                                       std::uint64_t host_room);

/// Functions that return the address of a buffer and the handle of a texture, for arguments that
/// refer to them.
struct ArgumentValues {
  std::function<std::uint64_t(BufferId)> address;
  std::function<std::uint64_t(TextureId)> handle;
};

/// Builds the kernel's parameter block. Returns a fault if the number or the sizes of the arguments
/// do not match the parameters.
[[nodiscard]] std::variant<std::vector<std::byte>, Fault> pack_arguments(
    const Program& program, std::span<const KernelArgument> arguments,
    const ArgumentValues& values);

/// The fault that a launch with hazards causes, with the first hazard as its reason and all hazards
/// in its detail; nullopt if there is no hazard.
[[nodiscard]] std::optional<Fault> fault_of(const Program& program, const HazardLog& log);

/// Sets the size of a CTA's shared memory in `launch`, and the start of the part that the system
/// reserves. Returns the size in bytes of the part that the kernel itself uses. A slice of a kernel
/// (store_slice.hpp) has no shared memory.
std::uint32_t place_shared_memory(LaunchContext& launch);

/// Initialises the workspace of a cooperative launch, as the driver does before each launch, and
/// returns the workspace's address.
[[nodiscard]] std::uint64_t clear_grid_workspace(GlobalBuffer& workspace);

}  // namespace evo::ptx
