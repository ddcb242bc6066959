#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evo {

/// Resources of a compiled kernel, without dynamic shared memory.
struct Resources {
  int registers = 0;            ///< per thread
  int static_shared_bytes = 0;  ///< per CTA
  int spill_store_bytes = 0;    ///< per thread
  int spill_load_bytes = 0;     ///< per thread
  int stack_bytes = 0;          ///< local memory frame per thread
  int max_threads = 0;          ///< per CTA, from __launch_bounds__; 0 if not specified

  bool operator==(const Resources&) const = default;
};

/// Whether a time was measured on hardware or predicted by the virtual GPU's model. Measured and
/// predicted times are never ranked together.
enum class TimeKind { kMeasured, kPredicted };

/// "measured" or "predicted".
[[nodiscard]] std::string_view to_string(TimeKind kind);

/// The inverse of to_string(TimeKind). Throws InputError if `text` is neither "measured" nor
/// "predicted".
[[nodiscard]] TimeKind time_kind_from_string(std::string_view text);

/// The distribution of the time of one launch, in microseconds.
struct Timing {
  TimeKind kind = TimeKind::kMeasured;
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double mean_us = 0;
  double std_us = 0;
  double cv = 0;             ///< std / mean
  std::int64_t samples = 0;  ///< 1 for a prediction
  /// false if timing stopped early because the kernel could not enter the elite
  bool complete = true;
  std::string not_modelled = {};  ///< for a prediction: effects that the model ignores
};

/// Launches longer than this, in µs, are called very long: loading the kernel and raising the
/// clocks take a negligible part of their time.
inline constexpr double kVeryLongLaunchUs = 10'000;

/// The factor by which two measurements of one kernel at different times may differ, because clocks
/// drift. For very long launches, the factor is only 1.01, so that timing a slower kernel ends
/// after fewer launches.
[[nodiscard]] constexpr double other_minute(double time_us) {
  return time_us < kVeryLongLaunchUs ? 1.02 : 1.01;
}

/// The comparison of a launch, on one shape with one seed, with the reference. Each error is the
/// largest over all output arguments.
struct CheckResult {
  std::string shape;
  std::uint64_t seed = 0;
  double max_abs_error = 0;
  double bad_share = 0;      ///< share of elements beyond the tolerance's absolute bound, 0…1
  double relative_l2 = 0;    ///< ‖out − ref‖ / ‖ref‖
  double max_row_error = 0;  ///< largest |out − ref| / rms of the row of ref; 0 without rows
  std::string sampled = {};  ///< the CTAs that ran and the outputs that were compared, such as
                             ///< "8 of 64 CTAs, 4 of 32 rows compared"; empty: all
};

}  // namespace evo
