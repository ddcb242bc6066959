#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.hpp"
#include "engine/core/candidate.hpp"

namespace evo {

/// The purpose of a run.
enum class Aim {
  /// find the fastest kernel: rank an elite, and spend little time on kernels that cannot enter it
  kSearch,
  kRecord,  ///< record the times of all candidates, all timed alike: no milestones, elite or
            ///< comparisons
};

/// Returns "search" or "record".
[[nodiscard]] std::string_view to_string(Aim aim);

/// The value of TunerOptions::candidates for no limit.
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// A candidate that was a member of the elite of an earlier run.
struct KnownCandidate {
  Candidate candidate;
  RunId run = 0;
};

struct TunerOptions {
  Aim aim = Aim::kSearch;
  int generations = 20;
  std::size_t offspring = 8;            ///< proposals per generation
  std::size_t candidates = kAnyNumber;  ///< limit on the candidates of the whole run
  std::size_t max_in_flight = 8;        ///< limit on the candidates in flight
  std::size_t elite = 3;
  std::string strategy = "full";
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string objective = "time";          ///< see Objective
  std::vector<KnownCandidate> known = {};  ///< candidates judged after the milestones and the
                                           ///< default configuration
};

}  // namespace evo
