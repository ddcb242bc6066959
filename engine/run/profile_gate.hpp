#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"
#include "engine/evaluate/workbench.hpp"

namespace evo {

/// The result of a kernel at the profile gate, or the reason why the gate was skipped.
struct Profiled {
  std::optional<ProfileRecord> record = {};
  std::string left_out = {};  ///< why the gate was skipped, as a line for users
};

/// Tests whether a launch of a green kernel on the timed shape number `at` satisfies the condition
/// in the "profile" of its problem file. On a GPU, Nsight Compute measures the metrics in a
/// separate process. On a virtual GPU, the time model predicts the utilisation of an SM's units.
/// Throws the errors of require_profile(), and Interrupted if a stop is requested.
[[nodiscard]] Profiled profile_gate(Workbench& bench, const KernelUnderTest& kernel,
                                    std::size_t at = 0);

/// Says why a kernel fails the profile gate, with its metrics; nullopt if it passes.
[[nodiscard]] std::optional<Rejection> rejection_of(const ProfileRecord& record);

/// Throws InputError unless the problem file has a "profile" and the run has a device.
void require_profile(const Workbench& bench);

/// The metrics of a kernel as text, such as "tensor 61.2 %, dram 3.1 %".
[[nodiscard]] std::string metrics_text(const ProfileRecord& record);

}  // namespace evo
