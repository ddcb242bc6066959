#include "engine/device/virtual/timing/prediction.hpp"

#include <algorithm>
#include <unordered_map>
#include <variant>

#include "engine/device/virtual/timing/counted_time.hpp"
#include "engine/predict/sm_simulation.hpp"

namespace evo::ptx {
namespace {

/// The PTX line at which a warp continues after it reaches instruction `pc` and follows
/// unconditional branches; 0 if unknown.
std::uint32_t line_at(const Program& program, std::size_t pc) {
  constexpr int kMostBranches = 8;
  for (int i = 0; i < kMostBranches && pc < program.code.size(); ++i) {
    const auto* branch = std::get_if<BranchOperands>(&program.code[pc].operands);
    if (branch == nullptr || program.code[pc].guard != kNoRegister) break;
    pc = branch->target;
  }
  return pc < program.info.size() ? static_cast<std::uint32_t>(program.info[pc].line) : 0;
}

int warps_of(const ExecutedLaunch& launch) { return (launch.threads + kWarpSize - 1) / kWarpSize; }

/// The operations of a CTA at each instruction, as means over the executed CTAs.
class Activities {
 public:
  Activities(const ExecutedLaunch& launch, const CtaCounts& counts)
      : launch_(launch),
        program_(launch.program),
        counts_(counts),
        ctas_(static_cast<double>(std::max<std::uint64_t>(counts.ctas, 1))),
        warps_(static_cast<std::size_t>(warps_of(launch))) {}

  CtaKind kind(double share) const {
    CtaKind kind{.lines = {}, .syncs = {}, .share = share};
    for (const WarpRecord& warp : counts_.longest.warps) kind.syncs.push_back(warp.syncs);
    kind.work = static_cast<double>(counts_.warp_instructions) / ctas_;
    for (auto& warp : kind.syncs) {
      for (SyncEvent& event : warp) event.line = behind(event.line);
    }
    for (std::size_t pc = 0; pc < program_.code.size(); ++pc) {
      const InstrInfo& info = program_.info[pc];
      if (info.helper || info.line <= 0) continue;
      add(pc, kind.lines[behind(static_cast<std::uint32_t>(info.line))]);
    }
    return kind;
  }

 private:
  /// Converts a line number so that the line after `.version` is line 1.
  [[nodiscard]] std::uint32_t behind(std::uint32_t line) const {
    return line > launch_.version_line ? line - launch_.version_line : 0;
  }

  /// The mean of `sums` per CTA, for one warp and the instruction `pc`.
  [[nodiscard]] double mean(const std::vector<std::uint64_t>& sums, std::size_t pc,
                            std::size_t warp) const {
    const std::size_t at = warp * program_.code.size() + pc;
    return at < sums.size() ? static_cast<double>(sums[at]) / ctas_ : 0;
  }

  void add(std::size_t pc, LineActivity& line) const {
    const InstrInfo& info = program_.info[pc];
    line.file = info.source.file;
    line.source_line = info.source.line;
    line.executions.resize(warps_);
    for (std::size_t w = 0; w < warps_; ++w) {
      const double executions = mean(counts_.executions, pc, w);
      line.executions[w] = std::max(line.executions[w], executions);
      line.flops += executions * info.flops;
    }
    if (const auto* branch = std::get_if<BranchOperands>(&program_.code[pc].operands)) {
      line.target = behind(line_at(program_, branch->target));
      line.next = behind(line_at(program_, pc + 1));
      line.taken.resize(warps_);
      for (std::size_t w = 0; w < warps_; ++w) line.taken[w] = mean(counts_.taken, pc, w);
      for (const WarpRecord& warp : counts_.longest.warps) {
        const auto history = warp.branches.find(static_cast<std::uint32_t>(pc));
        line.histories.push_back(history == warp.branches.end() ? BranchHistory{}
                                                                : history->second);
      }
    }
    if (counts_.memory.empty()) return;
    const MemoryCounts& memory = counts_.memory[pc];
    line.shared_wavefronts += static_cast<double>(memory.shared_wavefronts) / ctas_;
    line.global_sectors += static_cast<double>(memory.global_sectors) / ctas_;
    line.global_lines += static_cast<double>(memory.global_lines) / ctas_;
    line.global_sectors_first += static_cast<double>(memory.global_sectors_first) / ctas_;
    line.global_bytes_written += static_cast<double>(memory.global_bytes_written) / ctas_;
    line.sleep_ns += static_cast<double>(memory.sleep_ns) / ctas_;
    line.prints += static_cast<double>(memory.prints) / ctas_;
  }

  const ExecutedLaunch& launch_;
  const Program& program_;
  const CtaCounts& counts_;
  double ctas_;
  std::size_t warps_;
};

/// The number of the grid's atomic operations on one address, for the address with the largest
/// number. If only one executed CTA accesses an address, each CTA of the grid is assumed to access
/// a different address.
double hot_atomics(const GridKinds& kinds, double ctas) {
  struct Hot {
    double own = 0;
    double all = 0;
    std::uint64_t ctas = 0;
  };
  std::unordered_map<std::uint64_t, Hot> of_address;
  double most = 0;
  for (std::size_t i = 0; i < kinds.counts.size(); ++i) {
    const CtaCounts& counts = kinds.counts[i];
    const double each = kinds.shares[i] * ctas / static_cast<double>(counts.ctas);
    for (const auto& [address, count] : counts.atomics) {
      Hot& hot = of_address[address];
      hot.own += static_cast<double>(count.operations);
      hot.all += each * static_cast<double>(count.operations);
      hot.ctas += count.ctas;
      most = std::max({most, hot.own, hot.ctas > 1 ? hot.all : 0.0});
    }
  }
  return most;
}

/// The operations of a CTA's warps by PTX line; line 1 follows `.version`.
LaunchProfile launch_profile(const ExecutedLaunch& launch, const GridKinds& kinds) {
  LaunchProfile profile;
  profile.cubin = launch.cubin;
  profile.entry = launch.program.entry;
  profile.warps_per_cta = warps_of(launch);
  profile.ctas = launch.grid.ctas;
  profile.footprint_bytes = launch.footprint_bytes;
  profile.fresh_bytes = launch.fresh_bytes;
  profile.rotation_bytes = launch.rotation_bytes;
  profile.files = launch.program.files;
  profile.last_sm = kinds.last_sm;
  for (std::size_t i = 0; i < kinds.counts.size(); ++i)
    profile.kinds.push_back(Activities(launch, kinds.counts[i]).kind(kinds.shares[i]));
  profile.lines = mean_lines(profile.kinds);
  profile.hot_atomics = hot_atomics(kinds, static_cast<double>(profile.ctas));
  // Each call of printf reserves space in a common buffer by an atomic operation on one address.
  double prints = 0;
  for (const auto& [number, line] : profile.lines) prints += line.prints;
  profile.hot_atomics = std::max(profile.hot_atomics, prints * static_cast<double>(profile.ctas));
  return profile;
}

double counted_us(const DeviceModel& model, const ExecutedLaunch& launch, const GridKinds& kinds,
                  int resident) {
  PredictionInput input{.ctas = launch.grid.ctas,
                        .ctas_per_sm = resident,
                        .fresh_bytes = launch.fresh_bytes,
                        .rotation_bytes = launch.rotation_bytes};
  for (std::size_t i = 0; i < kinds.counts.size(); ++i) {
    const CtaCost cost = cta_cost(model, launch.program, kinds.counts[i], warps_of(launch));
    input.cost.add(cost, kinds.shares[i]);
    input.slowest_clocks = std::max({input.slowest_clocks, cost.busiest(), cost.warp_latency});
  }
  return std::max(predict_time_us(model, input),
                  hot_atomics(kinds, static_cast<double>(launch.grid.ctas)) *
                      model.rates.atomic_interval / model.info.clock_mhz);
}

}  // namespace

PredictedLaunch predict_launch(const DeviceModel& model, const ExecutedLaunch& launch) {
  PredictedLaunch result;
  result.occupancy = occupancy(model, launch.registers, launch.threads, launch.shared_bytes);
  result.rates = machine_rates(model);
  const int resident = result.occupancy.ctas_per_sm;
  const GridKinds kinds = kinds_of_grid(launch.grid, result.rates.sms, resident);
  result.profile = launch_profile(launch, kinds);
  const SmTime time = simulate_sm(result.rates, result.profile, resident);
  result.is_simulated = time.issued > 0;
  result.us = result.is_simulated ? result.rates.launch_us + time.us
                                  : counted_us(model, launch, kinds, resident);
  return result;
}

double predicted_us(const MachineRates& rates, const PredictedLaunch& launch) {
  if (!launch.is_simulated) return launch.us;
  return rates.launch_us + simulate_sm(rates, launch.profile, launch.occupancy.ctas_per_sm).us;
}

}  // namespace evo::ptx
