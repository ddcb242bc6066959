#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/checks/global_races.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/store_owners.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/grid_progress.hpp"
#include "engine/device/virtual/execute/placement.hpp"
#include "engine/device/virtual/execute/print_log.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/device/virtual/memory/texture_table.hpp"

namespace evo::ptx {

/// Bytes of shared memory that the system reserves in each CTA. Cooperative groups use the second
/// half of the reserved memory to synchronise tiles of several warps.
constexpr std::uint32_t kReservedSharedBytes = 1024;

/// Data that all CTAs of a launch share.
struct LaunchContext {
  const Program* program = nullptr;
  GlobalMemory* memory = nullptr;
  HazardLog* hazards = nullptr;
  PrintLog* printed = nullptr;
  const TextureTable* textures = nullptr;
  MmaNumerics numerics = {};
  std::vector<std::byte> parameters;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  /// bytes of static and dynamic shared memory, plus the part that the system reserves if the
  /// kernel uses it
  std::uint32_t shared_bytes = 0;
  /// offset of the part that the system reserves, which follows the kernel's own memory; only set
  /// if the kernel uses this part
  std::uint32_t reserved_shared_offset = 0;
  std::uint32_t registers_per_thread = 0;  ///< registers per thread at launch; 0: unknown
  int sm_count = 1;
  std::uint64_t grid_workspace = 0;  ///< address of the workspace of cooperative launches
  bool check = true;                 ///< check for races and uninitialised data
  /// If not null, the launch records stores to global memory here and does not execute them (see
  /// store_slice.hpp).
  StoreOwners* owners = nullptr;
  bool count_memory = false;  ///< count bank conflicts and sectors, to predict the time
  std::uint64_t seed = 1;
  std::uint64_t number = 0;  ///< number of the launch on its device
  Placement placement = {};
  DeviceClocks clocks = {};  ///< the device's clocks when the launch begins
  /// limit of a CTA's warp instructions without progress; if it is exceeded, a livelock is reported
  std::uint64_t stall_budget = 0;
  std::uint64_t issue_budget = 0;  ///< limit of warp instructions of one CTA
  GlobalRaces global_races;
  /// an instruction that read an old value (see Interpreting::unordered_read()); −1: none
  std::atomic<int> unordered_read{-1};
  GridProgress progress;
  std::atomic<bool> stop{false};  ///< set when a fatal hazard or an exception ends the launch

  [[nodiscard]] std::uint64_t grid_ctas() const {
    return static_cast<std::uint64_t>(grid[0]) * grid[1] * grid[2];
  }
};

}  // namespace evo::ptx
