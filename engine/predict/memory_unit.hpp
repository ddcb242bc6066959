#pragma once

#include <algorithm>
#include <cmath>

#include "engine/predict/issue_step.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo {

/// How a launch uses the L2 cache and the DRAM, which all SMs share.
struct GpuShare {
  double active = 1;    ///< share of the SMs that have a CTA
  double distinct = 1;  ///< fraction of the traffic that is a first access, see distinct_share()
};

/// The memory unit of an SM, with this SM's share of the bandwidth of L2 and DRAM. Times are in
/// clocks. For copies (cp.async, bulk copies), writes and DRAM, the SMs that have CTAs share the
/// GPU's bandwidth; one SM's path to L2 limits copies and writes, too. Data that several SMs copy
/// are counted only once against the shared bandwidth. Other loads get the same bandwidth of L2 as
/// if all SMs were loading.
class MemoryUnit {
 public:
  explicit MemoryUnit(const MachineRates& rates, const GpuShare& share = {})
      : rates_(rates),
        copy_bytes_(std::max(
            std::min(rates.l2_bytes / (share.active * share.distinct), rates.l2_copy_port_bytes),
            rates.l2_bytes)),
        write_bytes_(
            std::max(std::min(rates.l2_write_bytes / share.active, rates.l2_write_port_bytes),
                     rates.l2_write_bytes)),
        dram_bytes_(rates.dram_bytes / share.active) {}

  /// The time at which the memory unit can accept the next instruction.
  [[nodiscard]] double takes_from() const { return free_ - rates_.queue; }

  struct Access {
    double done = 0;  ///< when the result is available
    double read = 0;  ///< when the operands may change
  };
  Access access(const IssueStep& step, double at) {
    const double start = std::max(at + 2, free_);
    free_ = start + step.passes;
    const double latency = step.latency + beyond_least(step);
    double done = start + step.passes - 1 + latency;
    if (step.sectors > 0) {
      // Writes and reads share the path between the SM and the L2 cache.
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
  /// Returns the time at which the data of a bulk copy have arrived. A bulk copy occupies the path
  /// to L2, but not the memory unit of the SM.
  double copy(const IssueStep& step, double at) {
    const double latency = step.latency + beyond_least(step);
    const double rate = step.stores ? write_bytes_ : copy_bytes_;
    l2_free_ = std::max(l2_free_, at) + step.sectors * kSectorBytes / rate;
    dram_free_ = std::max(dram_free_, at) + step.dram * kSectorBytes / dram_bytes_;
    const double done = std::max(l2_free_, dram_free_) + latency;
    if (step.stores) stored_ = std::max(stored_, done);
    return done;
  }
  /// Returns the time at which a wgmma has read its operands from shared memory.
  double read_matrices(const IssueStep& step, double at) {
    free_ = std::max(free_, at) + step.passes;
    return free_;
  }
  /// The time at which all previous stores have arrived.
  [[nodiscard]] double stored() const { return stored_; }

 private:
  /// The additional latency until the last of a load's lines arrives from DRAM. The latencies are
  /// exponentially distributed; multiples of the golden ratio replace random numbers.
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
  double copy_bytes_;   ///< bytes per clock from L2 by cp.async and bulk copies
  double write_bytes_;  ///< bytes per clock to L2
  double dram_bytes_;
  double free_ = 0;
  double l2_free_ = 0;
  double dram_free_ = 0;
  double stored_ = 0;
  double draw_ = 0;
};

}  // namespace evo
