#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace evo {

/// What Nsight Compute counted of one launch: a figure for each metric, over all kernels of it.
struct NcuCounts {
  struct Figure {
    double value = 0;
    std::string unit;
  };
  std::map<std::string, Figure> figures;
};

/// Why there are no counts, a line for people.
struct NcuFailure {
  std::string reason;
};

using NcuResult = std::variant<NcuCounts, NcuFailure>;

/// Reads the page "raw" of Nsight Compute as CSV. Of a launch of several kernels, sums are added
/// and all else is the mean, weighed by the time of each (gpu__time_duration.sum).
[[nodiscard]] NcuResult read_ncu_csv(std::string_view text,
                                     const std::vector<std::string>& metrics);

/// A line of `ncu --version` with the version; empty where there is no ncu. The environment
/// variable EVO_NCU names another program than the ncu on the PATH.
[[nodiscard]] std::string ncu_version();

/// The file of that program; empty where there is none.
[[nodiscard]] std::filesystem::path ncu_path();

/// Runs `command` under Nsight Compute, which counts the kernels between its cuProfilerStart() and
/// cuProfilerStop(). Clocks are left as they are, caches as the launches before left them.
/// `waiting` is called about twice a second. Never throws for what ncu does.
[[nodiscard]] NcuResult run_ncu(const std::vector<std::string>& command,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& metrics,
                                const std::function<void()>& waiting);

}  // namespace evo
