// Reads the file of a GPU in devices/, which holds figures for the time model, such as clock rates.
// Each figure must have a value, a unit and a source, and no figure may be missing.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <variant>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/device/virtual/timing/device_model.hpp"

namespace evo::ptx {
namespace {

constexpr const char* kFormat = "evo-tune device 1";
constexpr const char* kVersion = "virtual GPU 2";
constexpr double kMost = 1e9;

using Place = std::variant<int*, std::int64_t*, double*>;

struct Figure {
  std::string_view key;
  std::string_view unit;
  bool may_be_zero;
  Place (*place)(DeviceModel&);
};

#define EVO_AT(member) [](DeviceModel& m) -> Place { return &m.member; }
constexpr std::array kFigures = std::to_array<Figure>({
    {"sms", "SMs", false, EVO_AT(info.sm_count)},
    {"clock", "MHz", false, EVO_AT(info.clock_mhz)},
    {"tensor_clock", "MHz", false, EVO_AT(rates.tensor_clock_mhz)},
    {"registers_per_thread", "registers", false, EVO_AT(info.max_registers_per_thread)},
    {"threads_per_cta", "threads", false, EVO_AT(info.max_threads_per_cta)},
    {"shared_per_cta", "bytes", false, EVO_AT(info.max_shared_bytes_per_cta)},
    {"warps_per_sm", "warps", false, EVO_AT(max_warps_per_sm)},
    {"ctas_per_sm", "CTAs", false, EVO_AT(max_ctas_per_sm)},
    {"registers_per_sm", "registers", false, EVO_AT(registers_per_sm)},
    {"register_unit_per_warp", "registers", false, EVO_AT(register_unit_per_warp)},
    {"shared_per_sm", "bytes", false, EVO_AT(shared_bytes_per_sm)},
    {"shared_reserved", "bytes", true, EVO_AT(reserved_shared_bytes)},
    {"shared_unit", "bytes", false, EVO_AT(shared_unit_bytes)},
    {"l2_capacity", "bytes", false, EVO_AT(info.l2_bytes)},
    {"peak_flops", "TFLOP/s", false, EVO_AT(info.peak_tflops)},
    {"dram_bandwidth", "GB/s", false, EVO_AT(info.peak_bandwidth_gbs)},
    {"mma_f16", "FLOP/clock/SM", false, EVO_AT(f16_flops_per_clock)},
    {"mma_fp8", "FLOP/clock/SM", true, EVO_AT(fp8_flops_per_clock)},
    {"wgmma_f16", "FLOP/clock/SM", true, EVO_AT(wgmma_f16_flops_per_clock)},
    {"wgmma_fp8", "FLOP/clock/SM", true, EVO_AT(wgmma_fp8_flops_per_clock)},
    {"fma", "lanes/clock/SM", false, EVO_AT(fma_per_clock)},
    {"integer", "lanes/clock/SM", false, EVO_AT(alu_per_clock)},
    {"mufu", "lanes/clock/SM", false, EVO_AT(mufu_per_clock)},
    {"convert", "lanes/clock/SM", false, EVO_AT(convert_per_clock)},
    {"fp64", "lanes/clock/SM", false, EVO_AT(fp64_per_clock)},
    {"issue", "clocks", false, EVO_AT(rates.issue)},
    {"pack_bytes", "clocks", false, EVO_AT(rates.pack_bytes)},
    {"unpack_bytes", "clocks", false, EVO_AT(rates.unpack_bytes)},
    {"tensor_shares", "clocks", true, EVO_AT(rates.tensor_shares)},
    {"tensor_transforms", "clocks", true, EVO_AT(rates.tensor_transforms)},
    {"uniform", "clocks", false, EVO_AT(rates.uniform)},
    {"tensor_latency", "clocks", false, EVO_AT(rates.tensor_latency)},
    {"wgmma_latency", "clocks", false, EVO_AT(rates.gmma_latency)},
    {"transform_latency", "clocks", false, EVO_AT(rates.transform_latency)},
    {"fp64_latency", "clocks", false, EVO_AT(rates.fp64_latency)},
    {"uniform_latency", "clocks", false, EVO_AT(rates.uniform_latency)},
    {"constant_latency", "clocks", false, EVO_AT(rates.constant_latency)},
    {"special_latency", "clocks", false, EVO_AT(rates.special_latency)},
    {"shared_latency", "clocks", false, EVO_AT(rates.shared_latency)},
    {"matrix_latency", "clocks", false, EVO_AT(rates.matrix_latency)},
    {"shuffle_latency", "clocks", false, EVO_AT(rates.shuffle_latency)},
    {"l1_latency", "clocks", false, EVO_AT(rates.l1_latency)},
    {"l2_latency", "clocks", false, EVO_AT(rates.l2_latency)},
    {"dram_latency", "clocks", false, EVO_AT(rates.dram_latency)},
    {"dram_spread", "clocks", true, EVO_AT(rates.dram_spread)},
    {"slowest_line", "clocks", true, EVO_AT(rates.slowest_line)},
    {"atomic_latency", "clocks", false, EVO_AT(rates.atomic_latency)},
    {"atomic_interval", "clocks", false, EVO_AT(rates.atomic_interval)},
    {"print", "clocks", false, EVO_AT(rates.print_clocks)},
    {"fence_latency", "clocks", false, EVO_AT(rates.fence_latency)},
    {"cta_fence_latency", "clocks", false, EVO_AT(rates.cta_fence_latency)},
    {"barrier_latency", "clocks", false, EVO_AT(rates.barrier_latency)},
    {"barrier_arrival", "clocks", true, EVO_AT(rates.barrier_arrival)},
    {"mbarrier_latency", "clocks", false, EVO_AT(rates.mbarrier_latency)},
    {"operand_latency", "clocks", false, EVO_AT(rates.operand_latency)},
    {"branch", "clocks", false, EVO_AT(rates.branch_clocks)},
    {"memory_queue", "clocks", true, EVO_AT(rates.queue)},
    {"l2_read", "bytes/clock/SM", false, EVO_AT(rates.l2_bytes)},
    {"l2_write", "bytes/clock/SM", false, EVO_AT(rates.l2_write_bytes)},
    {"l2_copy_port", "bytes/clock/SM", false, EVO_AT(rates.l2_copy_port_bytes)},
    {"l2_write_port", "bytes/clock/SM", false, EVO_AT(rates.l2_write_port_bytes)},
    {"dram_reached", "of dram_bandwidth", false, EVO_AT(rates.dram_reached)},
    {"instruction_cache", "bytes", false, EVO_AT(rates.instruction_cache)},
    {"fetch", "clocks", false, EVO_AT(rates.fetch_clocks)},
    {"far_fetch", "clocks", false, EVO_AT(rates.far_fetch_clocks)},
    {"near_code", "bytes", false, EVO_AT(rates.near_code)},
    {"near_fetch", "clocks", true, EVO_AT(rates.near_fetch_clocks)},
    {"cta_interval", "clocks", false, EVO_AT(rates.cta_interval)},
    {"cta_turnover", "clocks", false, EVO_AT(rates.cta_clocks)},
    {"launch", "µs", false, EVO_AT(rates.launch_us)},
    {"drain", "µs", true, EVO_AT(rates.drain_us)},
});
#undef EVO_AT

void put(double value, const Place& place) {
  std::visit([&](auto* to) { *to = static_cast<std::remove_pointer_t<decltype(to)>>(value); },
             place);
}

/// Describes the allowed values of a figure if `value` is not allowed; empty if it is allowed.
std::string allowed_instead(const Figure& figure, double value, DeviceModel& model) {
  const bool is_whole = !std::holds_alternative<double*>(figure.place(model));
  if (value >= 0 && value <= kMost && (value > 0 || figure.may_be_zero) &&
      (!is_whole || value == std::floor(value)))
    return {};
  return fmt::format("allowed: a {}number {} 0, at most {:g}", is_whole ? "whole " : "",
                     figure.may_be_zero ? "from" : "above", kMost);
}

/// Reads one figure of the file: {"value": …, "unit": …, "source": …}.
void read_figure(const JsonReader& all, const Figure& figure, const JsonReader& sources,
                 DeviceModel& model) {
  const JsonReader reader = all.child(figure.key);
  const double value = reader.number("value");
  if (const std::string allowed = allowed_instead(figure, value, model); !allowed.empty())
    reader.fail("value", allowed);
  if (reader.string("unit") != figure.unit)
    reader.fail("unit", fmt::format("allowed: {}", figure.unit));
  const std::string source = reader.line("source");
  if (!sources.has(source)) reader.fail("source", "allowed: a key of \"sources\"");
  (void)sources.line(source);
  reader.finish();
  put(value, figure.place(model));
}

}  // namespace

DeviceModel read_device_model(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  const JsonReader root(json, file);
  (void)root.one_of("format", {kFormat});
  DeviceModel model;
  model.info = {.id = root.line("id"),
                .name = root.line("name"),
                .arch = root.plain_name("arch"),
                .time_kind = TimeKind::kPredicted,
                .driver = kVersion};
  const JsonReader sources = root.child("sources");
  const JsonReader figures = root.child("figures");
  for (const Figure& figure : kFigures) read_figure(figures, figure, sources, model);
  sources.finish();
  figures.finish();
  root.finish();
  return model;
}

DeviceModel with_figure(DeviceModel model, std::string_view key, double value) {
  std::vector<std::string> known;
  for (const Figure& figure : kFigures) {
    known.emplace_back(figure.key);
    if (figure.key != key) continue;
    if (const std::string allowed = allowed_instead(figure, value, model); !allowed.empty())
      throw InputError(fmt::format("{}: {:g}: {}", key, value, allowed));
    put(value, figure.place(model));
    return model;
  }
  throw InputError(unknown_name("figure", key, known));
}

}  // namespace evo::ptx
