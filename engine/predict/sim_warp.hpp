#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/predict/issue_step.hpp"
#include "engine/predict/wait_clocks.hpp"
#include "engine/predict/warp_path.hpp"

namespace evo {

/// The state of a resident warp in the time model's simulation of an SM. Times are in clocks.
struct SimWarp {
  static constexpr std::size_t kScoreboards = 6;

  SimWarp(const CodeGraph& graph, const WarpPlan& plan, double phase)
      : cursor(graph, plan, phase) {}

  /// Makes the warp's next instruction wait until the time `at`.
  void wait_until(double at, Wait reason) {
    if (at <= ready) return;
    ready = at;
    ready_by = reason;
  }
  /// Makes instructions that wait for scoreboard `board` wait until the time `at`. A `board` of
  /// kScoreboards or more means "no scoreboard": the call has no effect.
  void hold(unsigned board, double at, Wait reason) {
    if (board >= kScoreboards || at <= scoreboard[board]) return;
    scoreboard[board] = at;
    scoreboard_by[board] = reason;
  }

  /// The time at which the registers that the step reads are available, if no scoreboard protects
  /// them.
  [[nodiscard]] double arrives(const IssueStep& step) const {
    double at = 0;
    for (const unsigned reg : step.reads) at = std::max(at, registers[reg]);
    return at;
  }
  void write(const IssueStep& step, double at) {
    for (unsigned i = 0; i < step.results && step.result + i < kNoRegister; ++i)
      registers[step.result + i] = at;
  }

  WarpCursor cursor;
  std::size_t cta = 0;
  std::size_t number = 0;  ///< index of the warp in its CTA
  double issued = 0;       ///< time of its last instruction, or of its start
  double ready = 0;        ///< earliest time of the next instruction, apart from scoreboards
  Wait ready_by = Wait::kFixedLatency;
  std::array<double, kScoreboards> scoreboard{};
  std::array<Wait, kScoreboards> scoreboard_by{};
  std::array<double, kNoRegister + 1> registers{};  ///< when each has its value; the last is RZ
  double async_landed = 0;                          ///< arrival time of all copies so far
  std::vector<double> async_groups;                 ///< arrival time of each group of copies
  double stored = 0;                                ///< arrival time of all stores so far
  double gmma_done = 0;
  std::vector<double> gmma_groups;
  std::size_t sync = 0;  ///< index of the warp's next event
  bool blocked = false;  ///< the warp waits until phase `awaits` of `awaited` is complete
  std::int64_t awaits = -1;
  std::uint32_t awaited = 0;
};

}  // namespace evo
