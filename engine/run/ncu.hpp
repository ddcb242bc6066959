#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace evo {

/// Nsight Compute's metrics for one launch: one figure per metric, over all kernels of the launch.
struct NcuCounts {
  struct Figure {
    double value = 0;
    std::string unit;
  };
  std::map<std::string, Figure> figures;
};

/// The reason why there are no metrics, as a line for users.
struct NcuFailure {
  std::string reason;
};

using NcuResult = std::variant<NcuCounts, NcuFailure>;

/// Parses the CSV form of Nsight Compute's page "raw". If a launch has several kernels, metrics
/// that are sums are added. Metrics other than sums are averaged, weighted by the kernels' times
/// (gpu__time_duration.sum).
[[nodiscard]] NcuResult read_ncu_csv(std::string_view text,
                                     const std::vector<std::string>& metrics);

/// The version of ncu, from the line of `ncu --version` that contains it; empty if there is no ncu.
/// The environment variable EVO_NCU names a program to use instead of the ncu on the PATH.
[[nodiscard]] std::string ncu_version();

/// The path of the program that ncu_version() runs; empty if there is none.
[[nodiscard]] std::filesystem::path ncu_path();

/// Runs `command` under Nsight Compute, which profiles the kernels between cuProfilerStart() and
/// cuProfilerStop(). Clocks are not locked and caches are not flushed. `waiting` is called about
/// twice a second. Errors of ncu are returned, not thrown.
[[nodiscard]] NcuResult run_ncu(const std::vector<std::string>& command,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& metrics,
                                const std::function<void()>& waiting);

}  // namespace evo
