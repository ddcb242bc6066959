#pragma once

#include <optional>
#include <string>

#include "db/records.hpp"
#include "engine/evaluate/workbench.hpp"

namespace evo {

/// How a kernel fared at the profile gate, or why it was left out.
struct Profiled {
  std::optional<ProfileRecord> record = {};
  std::string left_out = {};  ///< a line for people
};

/// Holds one launch of a green kernel on a timed shape against "profile" of its problem. On a
/// card Nsight Compute counts, in a process of its own; elsewhere the time model says how busy it
/// thinks the units are. Throws InputError when the problem has no "profile", Interrupted.
[[nodiscard]] Profiled profile_gate(Workbench& bench, const KernelUnderTest& kernel,
                                    std::size_t at = 0);

/// Why the kernel does not pass, with the figures; nothing where it does.
[[nodiscard]] std::optional<Rejection> rejection_of(const ProfileRecord& record);

/// Throws InputError unless the bench's problem has "profile" and there is a device.
void require_profile(const Workbench& bench);

/// "tensor 61.2 %, dram 3.1 %".
[[nodiscard]] std::string metrics_text(const ProfileRecord& record);

}  // namespace evo
