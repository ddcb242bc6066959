#pragma once

#include <cstdint>

#include "engine/gate/correctness.hpp"

namespace evo {

/// The cases of a problem whose reference is a loaded kernel, and what judges by them.
struct MadeGates {
  MadeGates(BufferWork& work, const Problem& problem, KernelId reference, std::uint64_t seed)
      : programs(problem),
        cases(work, problem, programs, LoadedKernel{reference, &*problem.reference.kernel, {}},
              {.seed = seed}),
        judge(work, problem, cases, programs) {}

  ProblemPrograms programs;
  CaseSet cases;
  OutputJudge judge;
};

}  // namespace evo
