#pragma once

#include <algorithm>
#include <cstddef>
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
    double done = start + step.passes - 1 + step.latency;
    if (step.sectors > 0) {
      // What is written and what is read go separate ways between the SM and L2.
      const bool writes = step.unit == Unit::kGlobalStore || step.unit == Unit::kAtomic;
      double& l2_free = writes ? l2_write_free_ : l2_free_;
      const double rate = writes ? rates_.l2_write_bytes : rates_.l2_bytes;
      l2_free = std::max(l2_free, start) + step.sectors * kSectorBytes / rate;
      dram_free_ = std::max(dram_free_, start) + step.dram * kSectorBytes / rates_.dram_bytes;
      done = std::max({done, l2_free + step.latency, dram_free_ + step.latency});
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
  const MachineRates& rates_;
  double free_ = 0;
  double l2_free_ = 0;
  double l2_write_free_ = 0;
  double dram_free_ = 0;
  double stored_ = 0;
};

/// The code that warps of an SM fetch, each 128 bytes once.
class CodeFetch {
 public:
  CodeFetch(const MachineRates& rates, std::size_t instructions)
      : clocks_(kInstructionBytes * static_cast<double>(instructions) <= rates.instruction_cache
                    ? rates.fetch_clocks
                    : rates.far_fetch_clocks),
        fetched_(instructions / kInstructionsOfLine + 1, -1) {}

  /// When the instruction is there, for a warp that asks at `at`.
  double arrives(std::size_t instruction, double at) {
    double& fetched = fetched_[instruction / kInstructionsOfLine];
    if (fetched < 0) {
      free_ = std::max(free_, at) + clocks_;
      fetched = free_;
    }
    return fetched;
  }

 private:
  static constexpr double kInstructionBytes = 16;
  static constexpr std::size_t kInstructionsOfLine = 8;

  double clocks_;
  double free_ = 0;
  std::vector<double> fetched_;
};

}  // namespace evo
