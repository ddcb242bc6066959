#include "engine/device/virtual/timing/counted_time.hpp"

#include <algorithm>
#include <cmath>

namespace evo::ptx {
namespace {

// Rough estimates: latencies in clocks of instructions on which the next instruction depends, and
// the share of instructions that must wait for the preceding instruction.
constexpr double kDependentShare = 0.5;
constexpr double kAluLatency = 4.5;
constexpr double kTensorLatency = 33;
constexpr double kMufuLatency = 18;
constexpr double kSharedLatency = 29;
constexpr double kBarrierLatency = 25;
/// the share of a global load's L2 latency that is not hidden by other loads
constexpr double kGlobalShare = 0.35;
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
      return model.rates.l2_latency * kGlobalShare;
    case Pipe::kBarrier:
      return kBarrierLatency;
    case Pipe::kMove:
    case Pipe::kConst:
      return 0;
    default:
      return kAluLatency * kDependentShare;
  }
}

/// Floating-point operations per clock and SM of a matrix instruction.
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

void CtaCost::add(const CtaCost& other, double share) {
  for (double CtaCost::*part :
       {&CtaCost::issue, &CtaCost::tensor, &CtaCost::mufu, &CtaCost::fma, &CtaCost::alu,
        &CtaCost::convert, &CtaCost::fp64, &CtaCost::shared, &CtaCost::l2, &CtaCost::warp_latency})
    this->*part += share * (other.*part);
}

CtaCost cta_cost(const DeviceModel& model, const Program& program, const CtaCounts& counts,
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
    // Most moves and parameter loads do not exist in the machine code that is compiled from PTX.
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
  constexpr double kNsInMicrosecond = 1000;
  cost.warp_latency +=
      (static_cast<double>(memory.sleep_ns) * model.info.clock_mhz / kNsInMicrosecond +
       static_cast<double>(memory.prints) * model.rates.print_clocks) /
      ctas / warps_per_cta;
  cost.shared = static_cast<double>(memory.shared_wavefronts) / ctas;
  cost.l2 = static_cast<double>(memory.global_sectors) / ctas * kSectorBytes / model.rates.l2_bytes;
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
  clocks = std::max(clocks, input.slowest_clocks);
  double us = clocks / model.info.clock_mhz;
  if (input.rotation_bytes > static_cast<double>(model.info.l2_bytes)) {
    us = std::max(us, input.fresh_bytes / (model.info.peak_bandwidth_gbs * 1e3));
  }
  return us + model.rates.launch_us;
}

}  // namespace evo::ptx
