#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace evo::test {

/// A file in the folder kernels/ whose kernels exist in two versions: correct, and (with BUG) with
/// missing or wrong synchronisation.
enum class TwinSet {
  kLocks,         ///< locks.cu: locks, tickets and flags between CTAs
  kCudaLocks,     ///< cuda_locks.cu: the same with libcu++
  kCtaRaces,      ///< cta_races.cu: CTAs that access the same global memory
  kMasks,         ///< member_masks.cu: lanes with different member masks
  kElectedLanes,  ///< elected_lanes.cu: one lane arrives or waits for other lanes
  kGroups,        ///< groups.cu: cooperative groups
  kCollectives    ///< collectives.cu: CUB
};
constexpr TwinSet kTwinSets[] = {TwinSet::kLocks,      TwinSet::kCudaLocks,    TwinSet::kCtaRaces,
                                 TwinSet::kMasks,      TwinSet::kElectedLanes, TwinSet::kGroups,
                                 TwinSet::kCollectives};

struct TwinKernel {
  const char* entry;
  /// the beginning of the expected report about the wrong version; "": the wrong version is
  /// harmless
  const char* found_as;
};

[[nodiscard]] std::string name_of(TwinSet set);
[[nodiscard]] std::span<const TwinKernel> kernels_of(TwinSet set);
/// Why this machine cannot compile the kernels of `set`: no NVRTC, or a missing header; nullopt if
/// it can.
[[nodiscard]] std::optional<std::string> missing_for(TwinSet set);
/// Compiles the right or (with `bug`) the wrong versions of the kernels to PTX. Throws
/// std::runtime_error with the compiler's log if they do not compile.
[[nodiscard]] std::string compile_twins(TwinSet set, bool bug);

/// Launches a kernel several times on a new virtual GPU. Returns the report, or a description of
/// wrong results; "" if there is no report and every result is right.
[[nodiscard]] std::string judge_twin(TwinSet set, const std::string& ptx, const std::string& entry,
                                     std::uint64_t seed, int threads);
/// Whether the report about a wrong version of a kernel is about the kernel's defect. False if the
/// wrong version is harmless.
[[nodiscard]] bool is_defect_found(const TwinKernel& kernel, const std::string& report);

}  // namespace evo::test
