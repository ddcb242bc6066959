#pragma once

#include <algorithm>
#include <cmath>

#include "engine/predict/issue_step.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo {

/// How a launch shares what the card's SMs have together.
struct CardShare {
  double active = 1;    ///< share of the SMs that have a CTA
  double distinct = 1;  ///< share of what its CTAs read that no other one reads
};

/// The memory unit of an SM with its share of L2 and DRAM. Times are clocks. The card's bandwidth
/// is that of the SMs which use it, as far as the way from L2 to one SM allows. What several SMs
/// read crosses the card once.
class MemoryUnit {
 public:
  explicit MemoryUnit(const MachineRates& rates, const CardShare& share = {})
      : rates_(rates),
        copy_bytes_(std::max(
            std::min(rates.l2_bytes / (share.active * share.distinct), rates.l2_copy_port_bytes),
            rates.l2_bytes)),
        write_bytes_(
            std::max(std::min(rates.l2_write_bytes / share.active, rates.l2_write_port_bytes),
                     rates.l2_write_bytes)),
        dram_bytes_(rates.dram_bytes / share.active) {}

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
      const double rate = writes                          ? write_bytes_
                          : step.unit == Unit::kAsyncCopy ? copy_bytes_
                                                          : rates_.l2_bytes;
      l2_free_ = std::max(l2_free_, start) + step.sectors * kSectorBytes / rate;
      dram_free_ = std::max(dram_free_, start) + step.dram * kSectorBytes / dram_bytes_;
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
  double copy_bytes_;   ///< from L2 by cp.async, per clock
  double write_bytes_;  ///< to L2
  double dram_bytes_;
  double free_ = 0;
  double l2_free_ = 0;
  double dram_free_ = 0;
  double stored_ = 0;
  double draw_ = 0;
};

}  // namespace evo
