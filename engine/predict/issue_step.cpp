#include "engine/predict/issue_step.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace evo {
namespace {

constexpr double kBytesAPass = 128;
constexpr double kNsInMicrosecond = 1000;
/// If DRAM supplies at most this fraction of a launch's sectors, loads have the latency of L2.
constexpr double kMostlyWarm = 0.2;
/// maximum distance in instructions between two stores that L1 merges
constexpr std::ptrdiff_t kMergeDistance = 4;
// Opcodes of instructions that differ from other instructions of their unit: kLdsm and kStsm in
// their latency, kArrives in the time of its arrival (IssueStep::arrives_later).
constexpr unsigned kLdsm = 0x03b;
constexpr unsigned kStsm = 0x044;
constexpr unsigned kArrives = 0x1b0;

/// The fraction of the sectors requested from L2 that L2 must load from DRAM. If launches rotate
/// through more buffers than fit in the L2 cache, each launch reads each byte of the buffers that
/// differ between launches from DRAM once; later requests of the launch for the same byte hit the
/// cache.
double dram_share(const MachineRates& rates, const LaunchProfile& profile) {
  if (profile.rotation_bytes <= rates.l2_capacity || profile.footprint_bytes <= 0) return 0;
  return distinct_share(profile) * profile.fresh_bytes / profile.footprint_bytes;
}

class Steps {
 public:
  Steps(const MachineRates& rates, const std::vector<MachineInstruction>& code,
        const std::vector<double>& executions, const LaunchProfile& profile)
      : rates_(rates), profile_(profile), dram_share_(dram_share(rates, profile)) {
    for (std::size_t i = 0; i < code.size(); ++i)
      executions_[{code[i].ptx_line, unit_of(code[i])}] += executions[i];
  }

  [[nodiscard]] IssueStep step_of(const MachineInstruction& in) const {
    IssueStep step;
    step.unit = unit_of(in);
    step.line = in.ptx_line;
    step.stall = std::max(in.stall(), 1);
    step.write_barrier = in.write_barrier();
    step.read_barrier = in.read_barrier();
    step.waits = in.waits();
    step.never = in.is_never();
    step.arrives_later = in.operation() == kArrives;
    compute(in, step);
    use_memory(in, step);
    use_registers(in, step);
    return step;
  }

 private:
  /// The mean number of operations `what` for one execution of the step's machine instruction. The
  /// profile counts by PTX line, so all instructions of a line and a unit get the same mean.
  [[nodiscard]] double each(const IssueStep& step, double LineActivity::*what) const {
    const auto found = profile_.lines.find(step.line);
    if (found == profile_.lines.end()) return 0;
    const double executions = executions_.at({step.line, step.unit});
    return executions > 0 ? found->second.*what / executions : 0;
  }

  /// Sets the costs of instructions that do not access shared, local or global memory.
  void compute(const MachineInstruction& in, IssueStep& step) const {
    const auto set = [&](double occupies, double latency) {
      step.occupies = occupies;
      step.latency = latency;
    };
    switch (step.unit) {
      case Unit::kAlu:
        return set(rates_.alu, 0);
      case Unit::kFma:
        return set(rates_.fma, 0);
      case Unit::kFmaHeavy:
        return set(rates_.fma_heavy, 0);
      case Unit::kHalf:
        return set(widens_half(in) ? rates_.pack : rates_.half, 0);
      case Unit::kPack:
        return set(packs_bytes(in)     ? rates_.pack_bytes
                   : unpacks_bytes(in) ? rates_.unpack_bytes
                                       : rates_.pack,
                   0);
      case Unit::kUniform:
        return set(rates_.uniform, rates_.uniform_latency);
      case Unit::kFp64:
        return set(rates_.fp64, rates_.fp64_latency);
      case Unit::kTransform:
        return set(rates_.transform, rates_.transform_latency);
      case Unit::kTensor:
        return set(tensor_flops(in) / rates_.tensor_flops, rates_.tensor_latency);
      case Unit::kConstant:
        return set(1, rates_.constant_latency);
      case Unit::kSpecial:
        return set(1, rates_.special_latency);
      case Unit::kCtaFence:
        step.pause = rates_.cta_fence_latency;
        return;
      case Unit::kSleep:
        step.pause = each(step, &LineActivity::sleep_ns) * rates_.clock_mhz / kNsInMicrosecond;
        return;
      case Unit::kCall:
        step.pause = each(step, &LineActivity::prints) * rates_.print_clocks;
        return;
      case Unit::kGmmaWait:
      case Unit::kAsyncWait:
        step.pending = static_cast<unsigned>(in.low >> 38 & 0x3fU);
        return;
      default:
        return;
    }
  }

  static void use_registers(const MachineInstruction& in, IssueStep& step) {
    constexpr unsigned kOfTensor = 4;
    constexpr unsigned kOfFp64 = 2;
    if (step.unit == Unit::kBranch || step.unit == Unit::kNone) return;
    step.reads = {in.operand_a(), in.takes_register_b() ? in.operand_b() : kNoRegister,
                  in.operand_c()};
    if (step.unit != Unit::kTensor && step.unit != Unit::kFp64) return;
    step.result = in.result();
    step.results = step.unit == Unit::kTensor ? kOfTensor : kOfFp64;
  }

  void use_memory(const MachineInstruction& in, IssueStep& step) const {
    switch (step.unit) {
      case Unit::kGmma:
        step.occupies = tensor_flops(in) / rates_.gmma_flops;
        step.latency = rates_.gmma_latency;
        step.passes = gmma_bytes(in) / kBytesAPass;
        step.commits = commits_gmma(in);
        return;
      case Unit::kShared: {
        const bool is_matrix = in.operation() == kLdsm || in.operation() == kStsm;
        step.passes = std::max(each(step, &LineActivity::shared_wavefronts), 1.0);
        step.latency = is_matrix ? rates_.matrix_latency : rates_.shared_latency;
        return;
      }
      case Unit::kShuffle:
        step.passes = 1;
        step.latency = rates_.shuffle_latency;
        return;
      case Unit::kLocal:
        step.passes = 1;
        step.latency = rates_.l1_latency;
        return;
      case Unit::kAtomic:
      case Unit::kGlobalStore:
      case Unit::kGlobalLoad:
      case Unit::kAsyncCopy:
        return use_global(step);
      case Unit::kBulkCopy:
        return use_bulk(step);
      default:
        return;
    }
  }

  /// Sets the costs of bulk copies, which do not occupy the memory unit of the SM, because a
  /// separate engine moves the data.
  void use_bulk(IssueStep& step) const {
    constexpr double kSectorsOfLine = 4;
    step.sectors = std::max(each(step, &LineActivity::global_sectors), 1.0);
    step.stores = each(step, &LineActivity::global_bytes_written) > 0;
    step.dram = step.sectors * dram_share_;
    const bool is_far = dram_share_ > kMostlyWarm;
    step.latency = is_far ? rates_.dram_latency : rates_.l2_latency;
    if (is_far && !step.stores) step.dram_lines = std::max(step.sectors / kSectorsOfLine, 1.0);
  }

  void use_global(IssueStep& step) const {
    const double asked = std::max(each(step, &LineActivity::global_sectors), 1.0);
    step.sectors = asked;
    step.passes = std::max(1.0, each(step, &LineActivity::global_lines));
    if (step.unit == Unit::kAsyncCopy)
      step.passes = std::max(1.0, each(step, &LineActivity::shared_wavefronts));
    // Sectors that the CTA has read before are in L1, so they are not requested from L2.
    if (step.unit == Unit::kGlobalLoad && each(step, &LineActivity::global_sectors) > 0) {
      step.sectors = asked * each(step, &LineActivity::global_sectors_first) /
                     each(step, &LineActivity::global_sectors);
    }
    step.dram = step.sectors * dram_share_;
    if (step.unit == Unit::kAtomic) {
      step.latency = rates_.atomic_latency;
    } else if (step.unit != Unit::kAsyncCopy && step.sectors < step.passes) {
      step.latency = rates_.l1_latency;
    } else {
      constexpr double kSectorsOfLine = 4;
      const bool is_load = step.unit == Unit::kGlobalLoad;
      const bool is_far = dram_share_ > kMostlyWarm;
      step.latency = is_far ? rates_.dram_latency : rates_.l2_latency;
      if (is_far && step.unit != Unit::kGlobalStore) {
        step.dram_lines = is_load ? step.passes : std::max(step.sectors / kSectorsOfLine, 1.0);
      } else if (is_load) {
        // A load of several cache lines waits for the slowest of them.
        step.latency += rates_.slowest_line * (1 - 1 / step.passes);
      }
    }
  }

  const MachineRates& rates_;
  const LaunchProfile& profile_;
  /// For each pair of a PTX line and a unit: how often all warps of a CTA together execute the
  /// instructions of the unit that were made from the line.
  std::map<std::pair<std::uint32_t, Unit>, double> executions_;
  double dram_share_;
};

}  // namespace

double distinct_share(const LaunchProfile& profile) {
  double bytes = 0;
  for (const auto& [line, activity] : profile.lines) {
    const double read = std::min(activity.global_sectors_first, activity.global_sectors);
    bytes += (activity.global_bytes_written > 0 ? activity.global_sectors : read) * kSectorBytes;
  }
  bytes *= static_cast<double>(profile.ctas);
  return bytes > 0 ? std::min(profile.footprint_bytes / bytes, 1.0) : 0;
}

std::vector<IssueStep> issue_steps(const MachineRates& rates,
                                   const std::vector<MachineInstruction>& code,
                                   const std::vector<double>& executions,
                                   const LaunchProfile& profile) {
  const Steps steps(rates, code, executions, profile);
  std::vector<IssueStep> result;
  result.reserve(code.size());
  const MachineInstruction* store = nullptr;  // the previous store to global memory
  for (const MachineInstruction& in : code) {
    IssueStep step = steps.step_of(in);
    if (step.unit == Unit::kGlobalStore) {
      if (store != nullptr && &in - store <= kMergeDistance && merges_with(in, *store))
        step.sectors = step.dram = 0;
      store = &in;
    }
    result.push_back(step);
  }
  return result;
}

}  // namespace evo
