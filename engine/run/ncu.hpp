#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace evo {

/// Nsight Compute's metrics for one launch: one figure per metric, over all its kernels.
struct NcuCounts {
  struct Figure {
    double value = 0;
    std::string unit;
  };
  std::map<std::string, Figure> figures;
};

/// Why there are no metrics; a line for users.
struct NcuFailure {
  std::string reason;
};

using NcuResult = std::variant<NcuCounts, NcuFailure>;

/// Parses Nsight Compute's page "raw" in CSV. For a launch of several kernels, sums are added, and
/// all other metrics are averaged with the kernels' times (gpu__time_duration.sum) as weights.
[[nodiscard]] NcuResult read_ncu_csv(std::string_view text,
                                     const std::vector<std::string>& metrics);

/// The line of `ncu --version` that contains the version; empty if there is no ncu. The environment
/// variable EVO_NCU names a program other than the ncu on the PATH.
[[nodiscard]] std::string ncu_version();

/// The path of that program; empty if there is none.
[[nodiscard]] std::filesystem::path ncu_path();

/// Runs `command` under Nsight Compute, which profiles the kernels between cuProfilerStart() and
/// cuProfilerStop(). Clocks are not locked and caches not flushed. `waiting` is called about twice
/// a second. Does not throw for errors of ncu.
[[nodiscard]] NcuResult run_ncu(const std::vector<std::string>& command,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& metrics,
                                const std::function<void()>& waiting);

}  // namespace evo
