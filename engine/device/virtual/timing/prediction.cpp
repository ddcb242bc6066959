#include "engine/device/virtual/timing/prediction.hpp"

#include <algorithm>
#include <cmath>

namespace evo::ptx {
namespace {

// First guesses, to be fitted on measured spaces: latency of a dependent instruction in clocks
// times the share of instructions that wait for their predecessor.
constexpr double kDependentShare = 0.5;
constexpr double kAluLatency = 4.5;
constexpr double kTensorLatency = 33;
constexpr double kMufuLatency = 18;
constexpr double kSharedLatency = 29;
constexpr double kBarrierLatency = 25;
constexpr double kGlobalShare = 0.35;  ///< of the L2 latency a global load is not hidden by others
constexpr double kSchedulers = 4;
constexpr double kLanes = 32;
constexpr double kSectorBytes = 32;

double latency_of(const DeviceModel& model, const InstrInfo& info) {
  switch (info.pipe) {
    case Pipe::kTensor:
      return kTensorLatency * kDependentShare;
    case Pipe::kMufu:
    case Pipe::kConvert:
      return kMufuLatency * kDependentShare;
    case Pipe::kShared:
      return kSharedLatency * kDependentShare;
    case Pipe::kGlobal:
    case Pipe::kLocal:
      return model.l2_latency * kGlobalShare;
    case Pipe::kBarrier:
      return kBarrierLatency;
    case Pipe::kMove:
    case Pipe::kConst:
      return 0;
    default:
      return kAluLatency * kDependentShare;
  }
}

/// FLOP a clock and SM of a matrix instruction.
double tensor_rate(const DeviceModel& model, const InstrInfo& info) {
  const bool fp8 = info.is_fp8;
  if (info.opcode == Opcode::kWgmma && model.wgmma_f16_flops_per_clock > 0)
    return fp8 ? model.wgmma_fp8_flops_per_clock : model.wgmma_f16_flops_per_clock;
  return fp8 && model.fp8_flops_per_clock > 0 ? model.fp8_flops_per_clock
                                              : model.f16_flops_per_clock;
}

}  // namespace

double CtaCost::busiest() const {
  return std::max({issue, tensor, mufu, fma, alu, convert, fp64, shared, l2});
}

CtaCost cta_cost(const DeviceModel& model, const Program& program, const GridCounts& counts,
                 int warps_per_cta) {
  CtaCost cost;
  const double ctas = static_cast<double>(std::max<std::uint64_t>(counts.ctas, 1));
  const std::size_t size = program.code.size();
  MemoryCounts memory;
  for (const MemoryCounts& part : counts.memory) memory += part;
  for (std::size_t pc = 0; pc < size; ++pc) {
    const InstrInfo& info = program.info[pc];
    std::uint64_t executions = 0;
    for (std::size_t at = pc; at < counts.executions.size(); at += size)
      executions += counts.executions[at];
    if (info.helper || executions == 0) continue;
    const double warps = static_cast<double>(executions) / ctas;
    // Moves and parameters mostly vanish when PTX becomes machine code.
    if (info.pipe != Pipe::kMove && info.pipe != Pipe::kConst) cost.issue += warps / kSchedulers;
    cost.warp_latency += warps / warps_per_cta * latency_of(model, info);
    switch (info.pipe) {
      case Pipe::kTensor:
        cost.tensor += warps * info.flops / tensor_rate(model, info);
        break;
      case Pipe::kMufu:
        cost.mufu += warps * kLanes / model.mufu_per_clock;
        break;
      case Pipe::kConvert:
        cost.convert += warps * kLanes / model.convert_per_clock;
        break;
      case Pipe::kFma:
      case Pipe::kHalf:
        cost.fma += warps * kLanes / model.fma_per_clock;
        break;
      case Pipe::kFp64:
        cost.fp64 += warps * kLanes / model.fp64_per_clock;
        break;
      case Pipe::kAlu:
      case Pipe::kControl:
        cost.alu += warps * kLanes / model.alu_per_clock;
        break;
      default:
        break;
    }
  }
  cost.shared = static_cast<double>(memory.shared_wavefronts) / ctas;
  cost.l2 =
      static_cast<double>(memory.global_sectors) / ctas * kSectorBytes / model.l2_bytes_per_clock;
  return cost;
}

double predict_time_us(const DeviceModel& model, const PredictionInput& input) {
  const double sms = model.info.sm_count;
  const double per_sm = std::max(input.ctas_per_sm, 1);
  const double wave = sms * per_sm;
  const double ctas = static_cast<double>(input.ctas);
  const auto wave_clocks = [&](double resident) {
    return std::max(resident * input.cost.busiest(), input.cost.warp_latency);
  };
  const double full = std::floor(ctas / wave);
  const double rest = ctas - full * wave;
  double clocks = full * wave_clocks(per_sm);
  if (rest > 0) clocks += wave_clocks(std::ceil(rest / sms));
  double us = clocks / model.info.clock_mhz;
  if (input.footprint_bytes > static_cast<double>(model.info.l2_bytes)) {
    us = std::max(us, input.footprint_bytes / (model.info.peak_bandwidth_gbs * 1e3));
  }
  return us + model.launch_us;
}

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

}  // namespace

LaunchProfile launch_profile(const Program& program, const GridCounts& counts, int warps_per_cta,
                             std::uint32_t version_line) {
  const auto behind = [&](std::uint32_t line) {
    return line > version_line ? line - version_line : 0;
  };
  LaunchProfile profile;
  profile.entry = program.entry;
  profile.warps_per_cta = warps_per_cta;
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
    line.executions.resize(static_cast<std::size_t>(warps_per_cta));
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
    line.global_sectors_first += static_cast<double>(memory.global_sectors_first) / ctas;
    line.global_bytes_written += static_cast<double>(memory.global_bytes_written) / ctas;
  }
  return profile;
}

MachineRates machine_rates(const DeviceModel& model) {
  constexpr double kMostLanes = 128;
  MachineRates rates;
  const double sms = model.info.sm_count;
  rates.sms = model.info.sm_count;
  rates.clock_mhz = model.info.clock_mhz;
  rates.is_sm90 = model.info.arch >= "sm_90";
  rates.fma = kMostLanes / model.fma_per_clock;
  rates.fma_heavy = 2;
  rates.half = rates.fma;
  rates.alu = kMostLanes / model.alu_per_clock;
  rates.transform = kMostLanes / model.mufu_per_clock;
  rates.pack = kMostLanes / model.convert_per_clock;
  rates.fp64 = kMostLanes / model.fp64_per_clock;
  rates.tensor_flops = model.f16_flops_per_clock / kSchedulers;
  if (model.wgmma_f16_flops_per_clock > 0)
    rates.gmma_flops = model.wgmma_f16_flops_per_clock / kSchedulers;
  rates.l1_latency = model.l1_latency;
  rates.l2_latency = model.l2_latency;
  rates.dram_latency = model.dram_latency;
  rates.l2_capacity = static_cast<double>(model.info.l2_bytes);
  rates.l2_bytes = model.l2_bytes_per_clock;
  // What kernels reach of the peak.
  constexpr double kReached = 0.8;
  rates.dram_bytes = kReached * model.info.peak_bandwidth_gbs * 1e3 / model.info.clock_mhz / sms;
  rates.launch_us = model.graph_launch_us;
  return rates;
}

}  // namespace evo::ptx
