#include "engine/device/virtual/timing/prediction.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "engine/device/virtual/timing/counted_time.hpp"
#include "engine/predict/sm_simulation.hpp"

namespace evo::ptx {
namespace {

/// The line at which a warp goes on that comes to the instruction `pc`: an unconditional branch
/// only leads on. 0: none.
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

/// What the warps did, line by line of the PTX behind its `.version`.
LaunchProfile launch_profile(const ExecutedLaunch& launch) {
  const Program& program = launch.program;
  const GridCounts& counts = launch.counts;
  const auto behind = [&](std::uint32_t line) {
    return line > launch.version_line ? line - launch.version_line : 0;
  };
  LaunchProfile profile;
  profile.cubin = launch.cubin;
  profile.entry = program.entry;
  profile.warps_per_cta = warps_of(launch);
  profile.ctas = launch.ctas;
  profile.footprint_bytes = launch.footprint_bytes;
  profile.rotation_bytes = launch.rotation_bytes;
  profile.files = program.files;
  profile.syncs = counts.syncs;
  for (auto& warp : profile.syncs) {
    for (SyncEvent& event : warp) event.line = behind(event.line);
  }
  const auto ctas = static_cast<double>(std::max<std::uint64_t>(counts.ctas, 1));
  const std::size_t size = program.code.size();
  for (std::size_t pc = 0; pc < size; ++pc) {
    const InstrInfo& info = program.info[pc];
    if (info.helper || info.line <= 0) continue;
    LineActivity& line = profile.lines[behind(static_cast<std::uint32_t>(info.line))];
    line.file = info.source.file;
    line.source_line = info.source.line;
    line.executions.resize(static_cast<std::size_t>(profile.warps_per_cta));
    for (std::size_t w = 0; w < line.executions.size(); ++w) {
      const std::size_t at = w * size + pc;
      if (at >= counts.executions.size()) break;
      line.executions[w] =
          std::max(line.executions[w], static_cast<double>(counts.executions[at]) / ctas);
    }
    if (const auto* branch = std::get_if<BranchOperands>(&program.code[pc].operands)) {
      line.target = behind(line_at(program, branch->target));
      line.next = behind(line_at(program, pc + 1));
      line.taken.resize(line.executions.size());
      for (std::size_t w = 0; w < line.taken.size(); ++w) {
        const std::size_t at = w * size + pc;
        if (at < counts.taken.size()) line.taken[w] = static_cast<double>(counts.taken[at]) / ctas;
      }
    }
    for (std::size_t at = pc; at < counts.executions.size(); at += size)
      line.flops += static_cast<double>(counts.executions[at]) / ctas * info.flops;
    if (counts.memory.empty()) continue;
    const MemoryCounts& memory = counts.memory[pc];
    line.shared_wavefronts += static_cast<double>(memory.shared_wavefronts) / ctas;
    line.global_sectors += static_cast<double>(memory.global_sectors) / ctas;
    line.global_lines += static_cast<double>(memory.global_lines) / ctas;
    line.global_sectors_first += static_cast<double>(memory.global_sectors_first) / ctas;
    line.global_bytes_written += static_cast<double>(memory.global_bytes_written) / ctas;
  }
  return profile;
}

}  // namespace

PredictedLaunch predict_launch(const DeviceModel& model, const ExecutedLaunch& launch) {
  PredictedLaunch result{.profile = launch_profile(launch)};
  result.occupancy = occupancy(model, launch.registers, launch.threads, launch.shared_bytes);
  result.rates = machine_rates(model);
  const int resident = result.occupancy.ctas_per_sm;
  const SmTime time = simulate_sm(result.rates, result.profile, resident);
  result.is_simulated = time.issued > 0;
  result.us =
      result.is_simulated
          ? result.rates.launch_us + time.us
          : predict_time_us(model,
                            {cta_cost(model, launch.program, launch.counts, warps_of(launch)),
                             launch.ctas, resident, launch.footprint_bytes, launch.rotation_bytes});
  return result;
}

double predicted_us(const MachineRates& rates, const PredictedLaunch& launch) {
  if (!launch.is_simulated) return launch.us;
  return rates.launch_us + simulate_sm(rates, launch.profile, launch.occupancy.ctas_per_sm).us;
}

}  // namespace evo::ptx
