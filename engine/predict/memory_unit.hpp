#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/predict/issue_step.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo {

/// The memory unit of an SM with its share of L2 and DRAM. Times are clocks.
class MemoryUnit {
 public:
  explicit MemoryUnit(const MachineRates& rates) : rates_(rates) {}

  /// From then on it takes another instruction.
  [[nodiscard]] double takes_from() const { return free_ - rates_.queue; }

  struct Access {
    double done = 0;  ///< its result is there
    double read = 0;  ///< its operands may change
  };
  Access access(const IssueStep& step, double at) {
    const double start = std::max(at + 2, free_);
    free_ = start + step.passes;
    const double latency = step.latency + beyond_least(step);
    double done = start + step.passes - 1 + latency;
    if (step.sectors > 0) {
      // What is written and what is read share the way between the SM and L2.
      const bool writes = step.unit == Unit::kGlobalStore || step.unit == Unit::kAtomic;
      const double rate = writes ? rates_.l2_write_bytes : rates_.l2_bytes;
      l2_free_ = std::max(l2_free_, start) + step.sectors * kSectorBytes / rate;
      dram_free_ = std::max(dram_free_, start) + step.dram * kSectorBytes / rates_.dram_bytes;
      done = std::max({done, l2_free_ + latency, dram_free_ + latency});
    }
    if (step.unit == Unit::kGlobalStore) stored_ = std::max(stored_, done);
    return {done, start + rates_.operand_latency};
  }
  /// Operands of a wgmma: when they are read.
  double read_matrices(const IssueStep& step, double at) {
    free_ = std::max(free_, at) + step.passes;
    return free_;
  }
  /// When all stores so far have arrived.
  [[nodiscard]] double stored() const { return stored_; }

 private:
  /// By which the last of the lines that come from DRAM is later than the least latency: their
  /// delays are spread exponentially. The draws are spread by the golden ratio.
  double beyond_least(const IssueStep& step) {
    constexpr double kGolden = 0.6180339887;
    constexpr double kMost = 8;
    if (step.dram_lines <= 0) return 0;
    draw_ += kGolden;
    draw_ -= std::floor(draw_);
    const double most = -std::log(1 - std::pow(draw_, 1 / step.dram_lines));
    return rates_.dram_spread * std::min(most, kMost);
  }

  const MachineRates& rates_;
  double free_ = 0;
  double l2_free_ = 0;
  double dram_free_ = 0;
  double stored_ = 0;
  double draw_ = 0;
};

/// The code that warps of an SM fetch, each 128 bytes once. A sub-core keeps those that it used
/// last, and asks the SM's cache for others again.
class CodeFetch {
 public:
  static constexpr std::size_t kSubCores = 4;

  CodeFetch(const MachineRates& rates, std::size_t instructions)
      : rates_(rates),
        clocks_(kInstructionBytes * static_cast<double>(instructions) <= rates.instruction_cache
                    ? rates.fetch_clocks
                    : rates.far_fetch_clocks),
        near_lines_(static_cast<std::size_t>(std::max(rates.near_code / kLineBytes, kFewestLines))),
        fetched_(instructions / kInstructionsOfLine + 1, kNever) {
    for (NearCode& near : near_) near.lines.resize(fetched_.size());
  }

  /// When the instruction is there, for a warp of the sub-core that asks at `at`.
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
    // What follows is on its way when it is asked for.
    const double jump = follows ? 0 : rates_.near_fetch_clocks;
    line.arrives = line.was_there ? at + rates_.fetch_clocks + jump : fetched;
    line.was_there = true;
    return line.arrives;
  }

 private:
  static constexpr double kInstructionBytes = 16;
  static constexpr double kLineBytes = 128;
  static constexpr double kFewestLines = 32;  ///< more than warps that wait for one each
  static constexpr std::size_t kInstructionsOfLine = 8;
  static constexpr double kNever = -1;

  struct Line {
    std::uint64_t used = 0;  ///< which use of the sub-core's was its last; 0: it is not there
    double arrives = 0;
    bool was_there = false;
  };
  struct NearCode {
    std::vector<Line> lines;
    std::uint64_t uses = 0;
    std::size_t held = 0;
    std::size_t last = 0;
  };

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
  std::vector<double> fetched_;  ///< of each line: when the SM had it
  std::array<NearCode, kSubCores> near_;
};

}  // namespace evo
