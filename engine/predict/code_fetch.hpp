#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/predict/machine_rates.hpp"

namespace evo {

/// Simulates how the warps of an SM fetch instructions; code is fetched in lines of 128 bytes. Each
/// sub-core keeps the lines that it used last, and fetches other lines from the SM's instruction
/// cache.
class CodeFetch {
 public:
  static constexpr std::size_t kSubCores = 4;

  /// `executions`: how often each instruction of the kernel is executed. Lines without an executed
  /// instruction take no space in the instruction cache.
  CodeFetch(const MachineRates& rates, const std::vector<double>& executions)
      : rates_(rates),
        clocks_(kLineBytes * static_cast<double>(executed_lines(executions)) <=
                        rates.instruction_cache
                    ? rates.fetch_clocks
                    : rates.far_fetch_clocks),
        near_lines_(static_cast<std::size_t>(std::max(rates.near_code / kLineBytes, kFewestLines))),
        fetched_(executions.size() / kInstructionsOfLine + 1, kNever) {
    for (NearCode& near : near_) near.lines.resize(fetched_.size());
  }

  /// The time, in clocks, at which an instruction is available to a warp of the sub-core that
  /// requests it at time `at`.
  double arrives(std::size_t sub_core, std::size_t instruction, double at) {
    const std::size_t number = instruction / kInstructionsOfLine;
    NearCode& near = near_[sub_core];
    Line& line = near.lines[number];
    const bool follows = number == near.last + 1;
    near.last = number;
    const bool is_there = line.used != 0;
    line.used = ++near.uses;
    if (is_there) return line.arrives;
    if (near.held == near_lines_) {
      forget_oldest(near);
    } else {
      ++near.held;
    }
    double& fetched = fetched_[number];
    if (fetched == kNever) {
      free_ = std::max(free_, at) + clocks_;
      fetched = free_;
    }
    // Prefetching hides the latency if the line directly follows the sub-core's last line.
    const double jump = follows ? 0 : rates_.near_fetch_clocks;
    line.arrives = line.was_there ? at + rates_.fetch_clocks + jump : fetched;
    line.was_there = true;
    return line.arrives;
  }

 private:
  static constexpr double kLineBytes = 128;
  /// more than the number of a sub-core's warps, each of which may wait for a different line
  static constexpr double kFewestLines = 32;
  static constexpr std::size_t kInstructionsOfLine = 8;
  static constexpr double kNever = -1;

  struct Line {
    /// value of the sub-core's use counter when this line was last used; 0 if the sub-core does not
    /// keep the line
    std::uint64_t used = 0;
    double arrives = 0;
    bool was_there = false;
  };
  struct NearCode {
    std::vector<Line> lines;
    std::uint64_t uses = 0;
    std::size_t held = 0;
    std::size_t last = 0;
  };

  static std::size_t executed_lines(const std::vector<double>& executions) {
    std::vector<bool> lines(executions.size() / kInstructionsOfLine + 1, false);
    for (std::size_t i = 0; i < executions.size(); ++i)
      lines[i / kInstructionsOfLine] = lines[i / kInstructionsOfLine] || executions[i] > 0;
    return static_cast<std::size_t>(std::ranges::count(lines, true));
  }

  static void forget_oldest(NearCode& near) {
    Line* oldest = nullptr;
    for (Line& line : near.lines) {
      if (line.used != 0 && line.used != near.uses &&
          (oldest == nullptr || line.used < oldest->used))
        oldest = &line;
    }
    if (oldest != nullptr) oldest->used = 0;
  }

  const MachineRates& rates_;
  double clocks_;
  std::size_t near_lines_;
  double free_ = 0;
  std::vector<double> fetched_;  ///< for each line: time of its arrival at the SM
  std::array<NearCode, kSubCores> near_;
};

}  // namespace evo
