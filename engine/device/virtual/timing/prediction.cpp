#include "engine/device/virtual/timing/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

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
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const InstrInfo& info = program.info[pc];
    if (info.helper || counts.executions[pc] == 0) continue;
    const double warps = static_cast<double>(counts.executions[pc]) / ctas;
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
  cost.shared = static_cast<double>(counts.memory.shared_wavefronts) / ctas;
  cost.l2 = static_cast<double>(counts.memory.global_sectors) / ctas * kSectorBytes /
            model.l2_bytes_per_clock;
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

int registers_from_cubin(std::string_view cubin, std::string_view entry) {
  // Elf64_Ehdr: e_shoff at 40, e_shentsize 58, e_shnum 60, e_shstrndx 62. Elf64_Shdr: sh_name 0,
  // sh_offset 24, sh_size 32, sh_info 44.
  const auto read = [&](std::uint64_t at, auto& value) {
    if (at > cubin.size() || cubin.size() - at < sizeof(value)) return false;
    std::memcpy(&value, cubin.data() + at, sizeof(value));
    return true;
  };
  std::uint64_t sections = 0;
  std::uint16_t size = 0;
  std::uint16_t count = 0;
  std::uint16_t names = 0;
  if (!cubin.starts_with("\x7f"
                         "ELF") ||
      !read(40, sections) || !read(58, size) || !read(60, count) || !read(62, names))
    return 0;
  std::uint64_t strings = 0;
  if (!read(sections + static_cast<std::uint64_t>(names) * size + 24, strings)) return 0;
  const std::string wanted = ".text." + std::string(entry);
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint64_t header = sections + static_cast<std::uint64_t>(i) * size;
    std::uint32_t name = 0;
    std::uint32_t info = 0;
    if (!read(header, name) || !read(header + 44, info)) return 0;
    const std::uint64_t at = strings + name;
    if (at >= cubin.size()) continue;
    const std::string_view text = cubin.substr(at);
    if (text.starts_with(wanted) && text.size() > wanted.size() && text[wanted.size()] == '\0')
      return static_cast<int>(info >> 24);
  }
  return 0;
}

}  // namespace evo::ptx
