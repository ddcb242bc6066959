#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"
#include "engine/evaluate/workbench.hpp"

namespace evo {

/// A kernel's result at the profile gate, or why the gate was skipped.
struct Profiled {
  std::optional<ProfileRecord> record = {};
  std::string left_out = {};  ///< a line for users
};

/// Tests one launch of a green kernel on a timed shape against "profile" of its problem. On a card,
/// Nsight Compute measures the metrics in a separate process. Otherwise the time model provides the
/// utilisation of the units. Throws InputError if the problem has no "profile", and Interrupted.
[[nodiscard]] Profiled profile_gate(Workbench& bench, const KernelUnderTest& kernel,
                                    std::size_t at = 0);

/// Why the kernel fails, with the figures; nullopt if it passes.
[[nodiscard]] std::optional<Rejection> rejection_of(const ProfileRecord& record);

/// Throws InputError unless the problem has "profile" and there is a device.
void require_profile(const Workbench& bench);

/// "tensor 61.2 %, dram 3.1 %".
[[nodiscard]] std::string metrics_text(const ProfileRecord& record);

}  // namespace evo
