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

/// Says why Nsight Compute gave no metrics, as a line for users.
struct NcuFailure {
  std::string reason;
};

using NcuResult = std::variant<NcuCounts, NcuFailure>;

/// Parses the CSV form of Nsight Compute's page "raw". If a launch has several kernels, metrics
/// whose names end with ".sum" are added. Other metrics are averaged, weighted by the kernels'
/// times (gpu__time_duration.sum).
[[nodiscard]] NcuResult read_ncu_csv(std::string_view text,
                                     const std::vector<std::string>& metrics);

/// The version of Nsight Compute's program ncu, such as "ncu 2025.3.0.0"; empty if ncu cannot be
/// started or fails. The environment variable EVO_NCU names a program to use instead of the ncu on
/// the PATH.
[[nodiscard]] std::string ncu_version();

/// The path of the ncu program that ncu_version() and run_ncu() start; empty if there is none.
[[nodiscard]] std::filesystem::path ncu_path();

/// Runs `command` under Nsight Compute, which profiles the kernels between cuProfilerStart() and
/// cuProfilerStop(). Nsight Compute does not lock clocks or flush caches. While ncu runs, calls
/// `waiting` about twice a second. Stops ncu after 300 s. Returns errors of ncu as NcuFailure
/// instead of throwing.
[[nodiscard]] NcuResult run_ncu(const std::vector<std::string>& command,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& metrics,
                                const std::function<void()>& waiting);

}  // namespace evo
