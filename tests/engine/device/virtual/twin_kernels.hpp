#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace evo::test {

/// A file of kernels/ whose entries exist twice: right, and (with BUG) with data that nothing
/// orders.
enum class TwinSet {
  kLocks,       ///< locks.cu: locks, tickets and flags between CTAs
  kCudaLocks,   ///< cuda_locks.cu: the same by libcu++
  kCtaRaces,    ///< cta_races.cu: CTAs that meet in global memory
  kMasks,       ///< member_masks.cu: lanes that name different members
  kGroups,      ///< groups.cu: cooperative groups
  kCollectives  ///< collectives.cu: CUB
};
constexpr TwinSet kTwinSets[] = {TwinSet::kLocks, TwinSet::kCudaLocks, TwinSet::kCtaRaces,
                                 TwinSet::kMasks, TwinSet::kGroups,    TwinSet::kCollectives};

struct TwinKernel {
  const char* entry;
  const char* found_as;  ///< how the report of its twin begins; "": its twin does no harm
};

[[nodiscard]] std::string name_of(TwinSet set);
[[nodiscard]] std::span<const TwinKernel> kernels_of(TwinSet set);
/// Why this machine cannot compile the set: no NVRTC, or a header that its toolkit lacks.
[[nodiscard]] std::optional<std::string> missing_for(TwinSet set);
/// PTX of the right kernels or of the twins. Throws std::runtime_error with the compiler's log.
[[nodiscard]] std::string compile_twins(TwinSet set, bool bug);

/// One judgement: launches the entry some times on a new virtual GPU. "" if nothing is reported and
/// every result is right, else the report.
[[nodiscard]] std::string judge_twin(TwinSet set, const std::string& ptx, const std::string& entry,
                                     std::uint64_t seed, int threads);
/// Whether the report of a twin is about its defect, and not about something else.
[[nodiscard]] bool is_defect_found(const TwinKernel& kernel, const std::string& report);

}  // namespace evo::test
