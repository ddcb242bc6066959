#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/device/virtual/checks/race_checker.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

struct NamedBarrier {
  std::int64_t phase = 0;      ///< number of completed phases
  std::uint32_t expected = 0;  ///< number of threads; 0: the whole CTA
  std::uint32_t arrived = 0;   ///< number of threads
  std::uint32_t warps_in = 0;  ///< mask of warps that arrived in this phase
  bool in_use = false;
  VectorClock clock{};
  std::vector<int> blocked;  ///< warps
  int first_pc = -1;         ///< instruction of the first arrival, for messages
  std::uint32_t reduced_count = 0;
  bool reduced_and = true;
  bool reduced_or = false;
};

/// The 16 named barriers of a CTA.
class NamedBarriers {
 public:
  static constexpr std::uint32_t kCount = 16;

  NamedBarriers(std::vector<Warp>& warps, RaceChecker& races) : warps_(warps), races_(races) {}

  void reset() { barriers_.fill(NamedBarrier()); }
  [[nodiscard]] const NamedBarrier& at(std::uint32_t id) const { return barriers_[id]; }

  /// Makes `warp` arrive at barrier `id`, passing its vector clock and, in a reduction, its
  /// predicates. The warp blocks unless the instruction is bar.arrive. `count`: the number of
  /// threads for which the barrier waits; 0: all threads of the CTA.
  void arrive(std::uint32_t id, std::uint32_t count, Warp& warp, const Instr& in);
  /// Must be called after a warp has exited: releases the barriers for which all remaining warps
  /// have arrived.
  void release_complete();

 private:
  void release_if_complete(NamedBarrier& barrier);

  std::vector<Warp>& warps_;
  RaceChecker& races_;
  std::array<NamedBarrier, kCount> barriers_{};
};

}  // namespace evo::ptx
