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

/// A resident warp in the simulation of an SM. Times are clocks.
struct SimWarp {
  static constexpr std::size_t kScoreboards = 6;

  SimWarp(const CodeGraph& graph, const WarpPlan& plan, double phase)
      : cursor(graph, plan, phase) {}

  /// Its next instruction waits until then.
  void wait_until(double at, Wait reason) {
    if (at <= ready) return;
    ready = at;
    ready_by = reason;
  }
  /// What waits for the scoreboard does so until then. Numbers beyond the last stand for none.
  void hold(unsigned board, double at, Wait reason) {
    if (board >= kScoreboards || at <= scoreboard[board]) return;
    scoreboard[board] = at;
    scoreboard_by[board] = reason;
  }

  /// Of registers whose result no scoreboard guards: when it is there.
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
  std::size_t number = 0;  ///< in its CTA
  double issued = 0;       ///< its last instruction, or when it started
  double ready = 0;        ///< for the next one, but for scoreboards
  Wait ready_by = Wait::kFixedLatency;
  std::array<double, kScoreboards> scoreboard{};
  std::array<Wait, kScoreboards> scoreboard_by{};
  std::array<double, kNoRegister + 1> registers{};  ///< the last is RZ
  double async_landed = 0;                          ///< when all its copies so far have
  std::vector<double> async_groups;                 ///< when each landed
  double stored = 0;                                ///< when all its stores so far have arrived
  double gmma_done = 0;
  std::vector<double> gmma_groups;
  std::size_t sync = 0;  ///< next of its events
  bool blocked = false;  ///< until `awaits` of `awaited` is complete
  std::int64_t awaits = -1;
  std::uint32_t awaited = 0;
};

}  // namespace evo
