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

constexpr std::array kFigures = std::to_array<Figure>({
    {"sms", "SMs", false, [](DeviceModel& m) -> Place { return &m.info.sm_count; }},
    {"clock", "MHz", false, [](DeviceModel& m) -> Place { return &m.info.clock_mhz; }},
    {"tensor_clock", "MHz", false,
     [](DeviceModel& m) -> Place { return &m.rates.tensor_clock_mhz; }},
    {"registers_per_thread", "registers", false,
     [](DeviceModel& m) -> Place { return &m.info.max_registers_per_thread; }},
    {"threads_per_cta", "threads", false,
     [](DeviceModel& m) -> Place { return &m.info.max_threads_per_cta; }},
    {"shared_per_cta", "bytes", false,
     [](DeviceModel& m) -> Place { return &m.info.max_shared_bytes_per_cta; }},
    {"warps_per_sm", "warps", false, [](DeviceModel& m) -> Place { return &m.max_warps_per_sm; }},
    {"ctas_per_sm", "CTAs", false, [](DeviceModel& m) -> Place { return &m.max_ctas_per_sm; }},
    {"registers_per_sm", "registers", false,
     [](DeviceModel& m) -> Place { return &m.registers_per_sm; }},
    {"register_unit_per_warp", "registers", false,
     [](DeviceModel& m) -> Place { return &m.register_unit_per_warp; }},
    {"shared_per_sm", "bytes", false,
     [](DeviceModel& m) -> Place { return &m.shared_bytes_per_sm; }},
    {"shared_reserved", "bytes", true,
     [](DeviceModel& m) -> Place { return &m.reserved_shared_bytes; }},
    {"shared_unit", "bytes", false, [](DeviceModel& m) -> Place { return &m.shared_unit_bytes; }},
    {"l2_capacity", "bytes", false, [](DeviceModel& m) -> Place { return &m.info.l2_bytes; }},
    {"peak_flops", "TFLOP/s", false, [](DeviceModel& m) -> Place { return &m.info.peak_tflops; }},
    {"dram_bandwidth", "GB/s", false,
     [](DeviceModel& m) -> Place { return &m.info.peak_bandwidth_gbs; }},
    {"mma_f16", "FLOP/clock/SM", false,
     [](DeviceModel& m) -> Place { return &m.f16_flops_per_clock; }},
    {"mma_fp8", "FLOP/clock/SM", true,
     [](DeviceModel& m) -> Place { return &m.fp8_flops_per_clock; }},
    {"wgmma_f16", "FLOP/clock/SM", true,
     [](DeviceModel& m) -> Place { return &m.wgmma_f16_flops_per_clock; }},
    {"wgmma_fp8", "FLOP/clock/SM", true,
     [](DeviceModel& m) -> Place { return &m.wgmma_fp8_flops_per_clock; }},
    {"fma", "lanes/clock/SM", false, [](DeviceModel& m) -> Place { return &m.fma_per_clock; }},
    {"integer", "lanes/clock/SM", false, [](DeviceModel& m) -> Place { return &m.alu_per_clock; }},
    {"mufu", "lanes/clock/SM", false, [](DeviceModel& m) -> Place { return &m.mufu_per_clock; }},
    {"convert", "lanes/clock/SM", false,
     [](DeviceModel& m) -> Place { return &m.convert_per_clock; }},
    {"fp64", "lanes/clock/SM", false, [](DeviceModel& m) -> Place { return &m.fp64_per_clock; }},
    {"issue", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.issue; }},
    {"pack_bytes", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.pack_bytes; }},
    {"unpack_bytes", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.unpack_bytes; }},
    {"tensor_shares", "clocks", true,
     [](DeviceModel& m) -> Place { return &m.rates.tensor_shares; }},
    {"tensor_transforms", "clocks", true,
     [](DeviceModel& m) -> Place { return &m.rates.tensor_transforms; }},
    {"uniform", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.uniform; }},
    {"tensor_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.tensor_latency; }},
    {"wgmma_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.gmma_latency; }},
    {"transform_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.transform_latency; }},
    {"fp64_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.fp64_latency; }},
    {"uniform_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.uniform_latency; }},
    {"constant_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.constant_latency; }},
    {"special_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.special_latency; }},
    {"shared_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.shared_latency; }},
    {"matrix_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.matrix_latency; }},
    {"shuffle_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.shuffle_latency; }},
    {"l1_latency", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.l1_latency; }},
    {"l2_latency", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.l2_latency; }},
    {"dram_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.dram_latency; }},
    {"dram_spread", "clocks", true, [](DeviceModel& m) -> Place { return &m.rates.dram_spread; }},
    {"slowest_line", "clocks", true, [](DeviceModel& m) -> Place { return &m.rates.slowest_line; }},
    {"atomic_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.atomic_latency; }},
    {"atomic_interval", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.atomic_interval; }},
    {"print", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.print_clocks; }},
    {"fence_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.fence_latency; }},
    {"cta_fence_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.cta_fence_latency; }},
    {"barrier_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.barrier_latency; }},
    {"barrier_arrival", "clocks", true,
     [](DeviceModel& m) -> Place { return &m.rates.barrier_arrival; }},
    {"mbarrier_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.mbarrier_latency; }},
    {"operand_latency", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.operand_latency; }},
    {"branch", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.branch_clocks; }},
    {"memory_queue", "clocks", true, [](DeviceModel& m) -> Place { return &m.rates.queue; }},
    {"l2_read", "bytes/clock/SM", false, [](DeviceModel& m) -> Place { return &m.rates.l2_bytes; }},
    {"l2_write", "bytes/clock/SM", false,
     [](DeviceModel& m) -> Place { return &m.rates.l2_write_bytes; }},
    {"l2_copy_port", "bytes/clock/SM", false,
     [](DeviceModel& m) -> Place { return &m.rates.l2_copy_port_bytes; }},
    {"l2_write_port", "bytes/clock/SM", false,
     [](DeviceModel& m) -> Place { return &m.rates.l2_write_port_bytes; }},
    {"dram_reached", "of dram_bandwidth", false,
     [](DeviceModel& m) -> Place { return &m.rates.dram_reached; }},
    {"instruction_cache", "bytes", false,
     [](DeviceModel& m) -> Place { return &m.rates.instruction_cache; }},
    {"fetch", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.fetch_clocks; }},
    {"far_fetch", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.far_fetch_clocks; }},
    {"near_code", "bytes", false, [](DeviceModel& m) -> Place { return &m.rates.near_code; }},
    {"near_fetch", "clocks", true,
     [](DeviceModel& m) -> Place { return &m.rates.near_fetch_clocks; }},
    {"cta_interval", "clocks", false,
     [](DeviceModel& m) -> Place { return &m.rates.cta_interval; }},
    {"cta_turnover", "clocks", false, [](DeviceModel& m) -> Place { return &m.rates.cta_clocks; }},
    {"launch", "µs", false, [](DeviceModel& m) -> Place { return &m.rates.launch_us; }},
    {"drain", "µs", true, [](DeviceModel& m) -> Place { return &m.rates.drain_us; }},
});

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
  return fmt::format("a {}number {} 0, at most {:g}", is_whole ? "whole " : "",
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
  if (!sources.has(source)) reader.fail("source", "not one of \"sources\"");
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
