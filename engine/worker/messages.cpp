#include "engine/worker/messages.hpp"

#include <array>
#include <utility>

#include "engine/core/printable.hpp"
#include "engine/worker/frame.hpp"

namespace evo {
namespace {

using CardFigure = std::optional<double> CardState::*;
constexpr std::array<std::pair<const char*, CardFigure>, 6> kCardFigures = {{
    {"sm_clock_min_mhz", &CardState::sm_clock_min_mhz},
    {"sm_clock_median_mhz", &CardState::sm_clock_median_mhz},
    {"memory_clock_mhz", &CardState::memory_clock_mhz},
    {"temperature_c", &CardState::temperature_c},
    {"power_w", &CardState::power_w},
    {"busy_before_percent", &CardState::busy_before_percent},
}};

}  // namespace

void to_json(nlohmann::json& json, const Resources& resources) {
  json = {{"registers", resources.registers},
          {"static_shared_bytes", resources.static_shared_bytes},
          {"spill_store_bytes", resources.spill_store_bytes},
          {"spill_load_bytes", resources.spill_load_bytes},
          {"stack_bytes", resources.stack_bytes},
          {"max_threads", resources.max_threads}};
}

void from_json(const nlohmann::json& json, Resources& resources) {
  json.at("registers").get_to(resources.registers);
  json.at("static_shared_bytes").get_to(resources.static_shared_bytes);
  json.at("spill_store_bytes").get_to(resources.spill_store_bytes);
  json.at("spill_load_bytes").get_to(resources.spill_load_bytes);
  json.at("stack_bytes").get_to(resources.stack_bytes);
  json.at("max_threads").get_to(resources.max_threads);
}

void to_json(nlohmann::json& json, const Rejection& rejection) {
  json = {{"gate", to_string(rejection.gate)},
          {"reason", rejection.reason},
          {"detail", rejection.detail},
          {"policy_only", rejection.policy_only}};
}

void from_json(const nlohmann::json& json, Rejection& rejection) {
  rejection.gate = gate_from_string(json.at("gate").get<std::string>());
  // Names of functions, files and kernels come from sources: any byte may.
  rejection.reason = printable(json.at("reason").get<std::string>());
  if (rejection.reason.empty()) rejection.reason = "no reason was given";
  rejection.detail = printable(json.at("detail").get<std::string>());
  json.at("policy_only").get_to(rejection.policy_only);
}

void to_json(nlohmann::json& json, const Timing& timing) {
  json = {{"kind", to_string(timing.kind)},
          {"p50_us", timing.p50_us},
          {"p90_us", timing.p90_us},
          {"p99_us", timing.p99_us},
          {"mean_us", timing.mean_us},
          {"std_us", timing.std_us},
          {"cv", timing.cv},
          {"samples", timing.samples},
          {"complete", timing.complete},
          {"not_modelled", timing.not_modelled}};
}

void from_json(const nlohmann::json& json, Timing& timing) {
  timing.kind = time_kind_from_string(json.at("kind").get<std::string>());
  json.at("p50_us").get_to(timing.p50_us);
  json.at("p90_us").get_to(timing.p90_us);
  json.at("p99_us").get_to(timing.p99_us);
  json.at("mean_us").get_to(timing.mean_us);
  json.at("std_us").get_to(timing.std_us);
  json.at("cv").get_to(timing.cv);
  json.at("samples").get_to(timing.samples);
  json.at("complete").get_to(timing.complete);
  json.at("not_modelled").get_to(timing.not_modelled);
}

void to_json(nlohmann::json& json, const CardState& state) {
  json = {{"looks", state.looks},
          {"discarded", state.discarded},
          {"throttled", state.throttled},
          {"others", state.others}};
  json["slowdowns"] = nlohmann::json::array();
  for (const Slowdown slowdown : state.slowdowns) json["slowdowns"].push_back(to_string(slowdown));
  for (const auto& [name, figure] : kCardFigures) {
    if (state.*figure) json[name] = *(state.*figure);
  }
}

void from_json(const nlohmann::json& json, CardState& state) {
  json.at("looks").get_to(state.looks);
  json.at("discarded").get_to(state.discarded);
  json.at("throttled").get_to(state.throttled);
  json.at("others").get_to(state.others);
  for (std::string& other : state.others) other = printable(other);
  state.slowdowns.clear();
  for (const auto& name : json.at("slowdowns")) {
    state.slowdowns.push_back(slowdown_from_string(name.get<std::string>()));
  }
  for (const auto& [name, figure] : kCardFigures) {
    state.*figure = json.contains(name) ? std::optional(json.at(name).get<double>()) : std::nullopt;
  }
}

void to_json(nlohmann::json& json, const Energy& energy) {
  json = {{"launch_mj", energy.launch_mj},
          {"power_w", energy.power_w},
          {"window_s", energy.window_s},
          {"launches", energy.launches}};
}

void from_json(const nlohmann::json& json, Energy& energy) {
  json.at("launch_mj").get_to(energy.launch_mj);
  json.at("power_w").get_to(energy.power_w);
  json.at("window_s").get_to(energy.window_s);
  json.at("launches").get_to(energy.launches);
}

void to_json(nlohmann::json& json, const CheckResult& check) {
  json = {{"shape", check.shape},
          {"seed", check.seed},
          {"max_abs_error", check.max_abs_error},
          {"bad_share", check.bad_share},
          {"relative_l2", check.relative_l2},
          {"max_row_error", check.max_row_error},
          {"sampled", check.sampled}};
}

void from_json(const nlohmann::json& json, CheckResult& check) {
  json.at("shape").get_to(check.shape);
  json.at("seed").get_to(check.seed);
  json.at("max_abs_error").get_to(check.max_abs_error);
  json.at("bad_share").get_to(check.bad_share);
  json.at("relative_l2").get_to(check.relative_l2);
  json.at("max_row_error").get_to(check.max_row_error);
  json.at("sampled").get_to(check.sampled);
}

void to_json(nlohmann::json& json, const DeviceInfo& info) {
  json = {{"id", info.id},
          {"name", info.name},
          {"arch", info.arch},
          {"time_kind", to_string(info.time_kind)},
          {"sm_count", info.sm_count},
          {"clock_mhz", info.clock_mhz},
          {"max_registers_per_thread", info.max_registers_per_thread},
          {"max_shared_bytes_per_cta", info.max_shared_bytes_per_cta},
          {"max_threads_per_cta", info.max_threads_per_cta},
          {"l2_bytes", info.l2_bytes},
          {"peak_tflops", info.peak_tflops},
          {"peak_bandwidth_gbs", info.peak_bandwidth_gbs},
          {"counts_energy", info.counts_energy},
          {"driver", info.driver}};
}

void from_json(const nlohmann::json& json, DeviceInfo& info) {
  json.at("id").get_to(info.id);
  json.at("name").get_to(info.name);
  json.at("arch").get_to(info.arch);
  info.time_kind = time_kind_from_string(json.at("time_kind").get<std::string>());
  json.at("sm_count").get_to(info.sm_count);
  json.at("clock_mhz").get_to(info.clock_mhz);
  json.at("max_registers_per_thread").get_to(info.max_registers_per_thread);
  json.at("max_shared_bytes_per_cta").get_to(info.max_shared_bytes_per_cta);
  json.at("max_threads_per_cta").get_to(info.max_threads_per_cta);
  json.at("l2_bytes").get_to(info.l2_bytes);
  json.at("peak_tflops").get_to(info.peak_tflops);
  json.at("peak_bandwidth_gbs").get_to(info.peak_bandwidth_gbs);
  json.at("counts_energy").get_to(info.counts_energy);
  json.at("driver").get_to(info.driver);
}

void to_json(nlohmann::json& json, const KernelImage& image) {
  json = {{"ptx", to_binary(image.ptx)},
          {"cubin", to_binary(image.cubin)},
          {"entries", image.entries},
          {"constants", image.constants}};
}

void from_json(const nlohmann::json& json, KernelImage& image) {
  image.ptx = from_binary(json.at("ptx"));
  image.cubin = from_binary(json.at("cubin"));
  json.at("entries").get_to(image.entries);
  json.at("constants").get_to(image.constants);
}

void to_json(nlohmann::json& json, const CompileRequest& request) {
  json = {{"name", request.source.name},
          {"text", request.source.text},
          {"headers", request.source.headers},
          {"entries", request.entries},
          {"arch", request.arch},
          {"options", request.options}};
}

void from_json(const nlohmann::json& json, CompileRequest& request) {
  json.at("name").get_to(request.source.name);
  json.at("text").get_to(request.source.text);
  json.at("headers").get_to(request.source.headers);
  json.at("entries").get_to(request.entries);
  json.at("arch").get_to(request.arch);
  json.at("options").get_to(request.options);
}

void to_json(nlohmann::json& json, const Compiled& compiled) {
  json = {{"ptx", to_binary(compiled.ptx)},
          {"cubin", to_binary(compiled.cubin)},
          {"log", compiled.log},
          {"ptx_hash", compiled.ptx_hash},
          {"resources", compiled.resources},
          {"compile_ms", compiled.compile_ms},
          {"packed_ptx", to_binary(compiled.packed_ptx)},
          {"packed_cubin", to_binary(compiled.packed_cubin)}};
}

void from_json(const nlohmann::json& json, Compiled& compiled) {
  compiled.ptx = from_binary(json.at("ptx"));
  compiled.cubin = from_binary(json.at("cubin"));
  json.at("log").get_to(compiled.log);
  json.at("ptx_hash").get_to(compiled.ptx_hash);
  json.at("resources").get_to(compiled.resources);
  json.at("compile_ms").get_to(compiled.compile_ms);
  compiled.packed_ptx = from_binary(json.at("packed_ptx"));
  compiled.packed_cubin = from_binary(json.at("packed_cubin"));
}

void to_json(nlohmann::json& json, const CompilerFailure& failure) {
  json = {{"out_of_memory", failure.kind == CompilerFailure::Kind::kOutOfMemory},
          {"reason", failure.reason},
          {"detail", failure.detail}};
}

void from_json(const nlohmann::json& json, CompilerFailure& failure) {
  failure.kind = json.at("out_of_memory").get<bool>() ? CompilerFailure::Kind::kOutOfMemory
                                                      : CompilerFailure::Kind::kInternal;
  json.at("reason").get_to(failure.reason);
  json.at("detail").get_to(failure.detail);
}

void to_json(nlohmann::json& json, const Dependency& dependency) {
  json = {{"path", dependency.path}, {"content", dependency.content}};
}

void from_json(const nlohmann::json& json, Dependency& dependency) {
  json.at("path").get_to(dependency.path);
  json.at("content").get_to(dependency.content);
}

}  // namespace evo
