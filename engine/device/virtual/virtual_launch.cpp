#include "engine/device/virtual/virtual_launch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "engine/device/virtual/memory/virtual_tensor_map.hpp"

namespace evo::ptx {
namespace {

std::string dimensions(const std::array<std::uint32_t, 3>& d) {
  return std::to_string(d[0]) + "x" + std::to_string(d[1]) + "x" + std::to_string(d[2]);
}

}  // namespace

std::optional<Fault> launch_refusal(const DeviceModel& model, const Program& program, int registers,
                                    const LaunchConfig& config) {
  const auto refuse = [&](const std::string& why) {
    return Fault{.reason = "launch refused: " + why, .kind = FaultKind::kRefused};
  };
  const std::uint64_t threads =
      static_cast<std::uint64_t>(config.block[0]) * config.block[1] * config.block[2];
  const auto limit = static_cast<std::uint64_t>(model.info.max_threads_per_cta);
  if (threads == 0 || threads > limit || config.block[2] > 64) {
    return refuse("block of " + dimensions(config.block) + " threads; allowed: 1 to " +
                  std::to_string(limit) + " threads, at most 64 in the third dimension");
  }
  if (config.grid[0] == 0 || config.grid[1] == 0 || config.grid[2] == 0 ||
      config.grid[0] > 0x7fffffffU || config.grid[1] > 65535 || config.grid[2] > 65535) {
    return refuse("grid of " + dimensions(config.grid) +
                  " CTAs; allowed: 1 to 2^31 - 1, 65535 and 65535 in the three dimensions");
  }
  const int bound = program.max_threads;
  if (bound > 0 && threads > static_cast<std::uint64_t>(bound)) {
    return refuse(std::to_string(threads) +
                  " threads; .maxntid or __launch_bounds__ limits the kernel to " +
                  std::to_string(bound));
  }
  const auto& cluster = program.cluster;
  constexpr std::uint32_t kMostCtas = 8;  // the largest portable size of a cluster
  if (program.cluster_ctas() > kMostCtas) {
    return refuse("clusters of " + dimensions(cluster) +
                  " CTAs (.reqnctapercluster), the limit is " + std::to_string(kMostCtas));
  }
  for (std::size_t d = 0; d < cluster.size(); ++d) {
    if (config.grid[d] % cluster[d] == 0) continue;
    return refuse("grid of " + dimensions(config.grid) +
                  " CTAs is not a multiple of the clusters of " + dimensions(cluster) + " CTAs");
  }
  const std::uint64_t shared =
      static_cast<std::uint64_t>(program.dynamic_shared_offset) + config.dynamic_shared_bytes;
  if (shared > static_cast<std::uint64_t>(model.info.max_shared_bytes_per_cta)) {
    return refuse(std::to_string(shared) + " bytes of shared memory, the limit is " +
                  std::to_string(model.info.max_shared_bytes_per_cta));
  }
  const auto occupied =
      occupancy(model, registers, static_cast<int>(threads), static_cast<int>(shared));
  if (occupied.ctas_per_sm < 1) return refuse("too many resources: " + std::string(occupied.limit));
  return std::nullopt;
}

std::optional<Fault> cooperative_refusal(std::uint64_t ctas, std::uint64_t room,
                                         std::uint64_t host_room) {
  const std::uint64_t least = std::min(room, host_room);
  if (ctas <= least) return std::nullopt;
  return Fault{.reason = "launch refused: cooperative launch too large: " + std::to_string(ctas) +
                         " CTAs that wait for each other, " +
                         (room <= host_room ? "the device" : "the memory of this host") +
                         " has room for " + std::to_string(least) + " at once",
               .kind = FaultKind::kRefused};
}

std::variant<std::vector<std::byte>, Fault> pack_arguments(
    const Program& program, std::span<const KernelArgument> arguments,
    const ArgumentValues& values) {
  if (arguments.size() != program.parameters.size()) {
    return Fault{.reason = "the kernel has " + std::to_string(program.parameters.size()) +
                           " parameters, the launch gives " + std::to_string(arguments.size())};
  }
  std::vector<std::byte> block(program.parameter_bytes + 16);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ParameterLayout& layout = program.parameters[i];
    std::uint64_t address = 0;
    std::array<std::byte, kTensorMapBytes> encoded;
    const void* bytes = &address;
    std::size_t size = sizeof(address);
    if (const auto* buffer = std::get_if<BufferId>(&arguments[i])) {
      address = values.address(*buffer);
    } else if (const auto* texture = std::get_if<TextureId>(&arguments[i])) {
      address = values.handle(*texture);
    } else if (const auto* map = std::get_if<TensorMapArgument>(&arguments[i])) {
      encoded = encode(map->spec, values.address(map->buffer));
      bytes = encoded.data();
      size = encoded.size();
    } else {
      const auto& scalar = std::get<ScalarArgument>(arguments[i]);
      bytes = scalar.bytes.data();
      size = scalar.bytes.size();
    }
    if (size != layout.bytes) {
      return Fault{.reason = "parameter " + std::to_string(i) + " has " +
                             std::to_string(layout.bytes) + " bytes, the argument " +
                             std::to_string(size)};
    }
    std::memcpy(block.data() + layout.offset, bytes, size);
  }
  return block;
}

std::optional<Fault> fault_of(const Program& program, const HazardLog& log) {
  const auto hazards = log.sorted();
  if (hazards.empty()) return std::nullopt;
  Fault fault;
  fault.reason = describe_hazard(program, hazards.front());
  if (hazards.size() > 1) fault.reason += " (and " + std::to_string(hazards.size() - 1) + " more)";
  for (const Hazard& hazard : hazards) fault.detail += describe_hazard(program, hazard) + "\n";
  const auto is_refusal = [](const Hazard& hazard) {
    return hazard.kind == HazardKind::kUnsupported;
  };
  if (std::ranges::all_of(hazards, is_refusal)) fault.kind = FaultKind::kRefused;
  return fault;
}

std::uint32_t place_shared_memory(LaunchContext& launch) {
  if (launch.owners != nullptr) return 0;
  constexpr std::uint32_t kAlignment = 16;
  const std::uint32_t own = launch.program->dynamic_shared_offset + launch.dynamic_shared_bytes;
  launch.shared_bytes = own;
  if (launch.program->uses_reserved_shared) {
    launch.reserved_shared_offset = (own + kAlignment - 1) / kAlignment * kAlignment;
    launch.shared_bytes = launch.reserved_shared_offset + kReservedSharedBytes;
  }
  return own;
}

std::uint64_t clear_grid_workspace(GlobalBuffer& workspace) {
  std::memset(workspace.data.get(), 0, workspace.bytes);
  const auto bytes = static_cast<std::uint32_t>(workspace.bytes);
  std::memcpy(workspace.data.get(), &bytes, sizeof(bytes));
  workspace.mark_written(workspace.bytes);
  return workspace.base;
}

}  // namespace evo::ptx
