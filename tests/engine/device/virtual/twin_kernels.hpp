#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace evo::test {

/// A file of kernels/ whose entries exist in two versions: correct, and (with BUG) with unordered
/// data.
enum class TwinSet {
  kLocks,       ///< locks.cu: locks, tickets and flags between CTAs
  kCudaLocks,   ///< cuda_locks.cu: the same by libcu++
  kCtaRaces,    ///< cta_races.cu: CTAs that access the same global memory
  kMasks,       ///< member_masks.cu: lanes with different member masks
  kGroups,      ///< groups.cu: cooperative groups
  kCollectives  ///< collectives.cu: CUB
};
constexpr TwinSet kTwinSets[] = {TwinSet::kLocks, TwinSet::kCudaLocks, TwinSet::kCtaRaces,
                                 TwinSet::kMasks, TwinSet::kGroups,    TwinSet::kCollectives};

struct TwinKernel {
  const char* entry;
  /// the beginning of the report about the wrong version; "": the wrong version is harmless
  const char* found_as;
};

[[nodiscard]] std::string name_of(TwinSet set);
[[nodiscard]] std::span<const TwinKernel> kernels_of(TwinSet set);
/// Why this machine cannot compile the set: no NVRTC, or a missing header.
[[nodiscard]] std::optional<std::string> missing_for(TwinSet set);
/// PTX of the right or the wrong versions. Throws std::runtime_error with the compiler's log.
[[nodiscard]] std::string compile_twins(TwinSet set, bool bug);

/// One judgement: launches the entry several times on a new virtual GPU. "" if nothing is reported
/// and every result is right, otherwise the report.
[[nodiscard]] std::string judge_twin(TwinSet set, const std::string& ptx, const std::string& entry,
                                     std::uint64_t seed, int threads);
/// Whether the report about a wrong version is about its defect.
[[nodiscard]] bool is_defect_found(const TwinKernel& kernel, const std::string& report);

}  // namespace evo::test
