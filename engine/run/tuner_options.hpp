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

/// What a run is for.
enum class Aim {
  kSearch,  ///< the fastest kernel: the elite, and no more time for a kernel that cannot enter it
  kRecord,  ///< the time of every candidate, all timed alike: no milestones, no elite, no
            ///< comparison
};

/// "search" or "record".
[[nodiscard]] std::string_view to_string(Aim aim);

/// No limit to the candidates of a run.
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// A candidate that was among the best of an earlier run.
struct KnownCandidate {
  Candidate candidate;
  RunId run = 0;
};

struct TunerOptions {
  Aim aim = Aim::kSearch;
  int generations = 20;
  std::size_t children = 8;             ///< proposals of a generation
  std::size_t candidates = kAnyNumber;  ///< of the whole run, at most
  std::size_t window = 8;               ///< candidates in flight
  std::size_t elite = 3;
  std::string strategy = "full";
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string objective = "time";          ///< see Objective
  std::vector<KnownCandidate> known = {};  ///< judged behind the milestones and the defaults
};

}  // namespace evo
