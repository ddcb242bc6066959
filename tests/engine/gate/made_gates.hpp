#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/gate/correctness/correctness.hpp"

namespace evo {

/// The cases of a problem, and the objects that judge kernels by these cases.
struct MadeGates {
  /// Uses the loaded kernel `reference` as the problem's reference.
  MadeGates(BufferWork& work, const Problem& problem, KernelId reference, std::uint64_t seed)
      : MadeGates(work, problem, LoadedKernel{reference, &*problem.reference.kernel, {}}, seed) {}
  /// `reference`: the loaded kernel of the problem's reference; nullopt if the problem has no
  /// reference, or one that is no kernel, for example files.
  MadeGates(BufferWork& work, const Problem& problem, std::optional<LoadedKernel> reference,
            std::uint64_t seed)
      : programs(problem),
        cases(work, problem, programs, std::move(reference), {.seed = seed}),
        judge(work, problem, cases, programs) {}

  ProblemPrograms programs;
  CaseSet cases;
  OutputJudge judge;
};

}  // namespace evo
