#pragma once

#include <string>

#include "engine/compile/compiler.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/core/gpu_state.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"
#include "engine/device/device.hpp"
#include "engine/worker/json_fields.hpp"

// Converts the values in messages between the coordinator and its workers to and from JSON.
// Decoding throws nlohmann::json::exception for missing or wrong members, and InputError for
// unknown names of gates, slowdowns and kinds of times.

namespace evo {

/// Replaces unprintable characters in all strings of a message, because the strings may come from
/// libraries and other programs.
void make_printable(nlohmann::json& message);

inline void to_json(nlohmann::json& json, TimeKind kind) { json = to_string(kind); }
inline void from_json(const nlohmann::json& json, TimeKind& kind) {
  kind = time_kind_from_string(json.get<std::string>());
}
inline void to_json(nlohmann::json& json, Slowdown slowdown) { json = to_string(slowdown); }
inline void from_json(const nlohmann::json& json, Slowdown& slowdown) {
  slowdown = slowdown_from_string(json.get<std::string>());
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Resources, registers, static_shared_bytes, spill_store_bytes,
                                   spill_load_bytes, stack_bytes, max_threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timing, kind, p50_us, p90_us, p99_us, mean_us, std_us, cv,
                                   samples, complete, not_modelled)
EVO_JSON_WITH_OPTIONAL_FIELDS(GpuState, looks, sm_clock_min_mhz, sm_clock_median_mhz,
                              memory_clock_mhz, temperature_c, power_w, slowdowns, discarded,
                              throttled, others, busy_before_percent)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Energy, launch_mj, power_w, window_s, launches)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckResult, shape, seed, max_abs_error, bad_share, relative_l2,
                                   max_row_error, sampled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceInfo, id, name, arch, time_kind, sm_count, clock_mhz,
                                   max_registers_per_thread, max_shared_bytes_per_cta,
                                   max_threads_per_cta, l2_bytes, peak_tflops, peak_bandwidth_gbs,
                                   counts_energy, driver, uuid)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource, name, text, headers)  // other members are not sent
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileRequest, source, entries, arch, options)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompilerFailure, kind, reason, detail)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Dependency, path, content)

/// from_json() replaces unprintable characters in the texts of a rejection, because they contain
/// names from source files.
void to_json(nlohmann::json& json, const Rejection& rejection);
void from_json(const nlohmann::json& json, Rejection& rejection);
// In messages with a KernelImage or Compiled, the PTX and the cubin are binary data.
void to_json(nlohmann::json& json, const KernelImage& image);
void from_json(const nlohmann::json& json, KernelImage& image);
void to_json(nlohmann::json& json, const Compiled& compiled);
void from_json(const nlohmann::json& json, Compiled& compiled);

}  // namespace evo
