#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"
#include "engine/evaluate/workbench.hpp"

namespace evo {

/// The record of a kernel at the profile gate, or the reason why the gate was skipped.
struct Profiled {
  std::optional<ProfileRecord> record = {};
  std::string left_out = {};  ///< why the gate was skipped, as a line for users
};

/// Tests a launch of a green kernel on a timed shape against the "profile" of its problem. On a
/// card, Nsight Compute measures the metrics in a separate process. On a virtual GPU, the time
/// model predicts the utilisation of the units. Throws InputError if the problem has no "profile",
/// and Interrupted if a stop is requested.
[[nodiscard]] Profiled profile_gate(Workbench& bench, const KernelUnderTest& kernel,
                                    std::size_t at = 0);

/// Says why the kernel fails, with the figures; nullopt if the kernel passes.
[[nodiscard]] std::optional<Rejection> rejection_of(const ProfileRecord& record);

/// Throws InputError unless the problem has a "profile" and there is a device.
void require_profile(const Workbench& bench);

/// The metrics as text, such as "tensor 61.2 %, dram 3.1 %".
[[nodiscard]] std::string metrics_text(const ProfileRecord& record);

}  // namespace evo
