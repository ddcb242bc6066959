#pragma once

#include <cstddef>
#include <vector>

#include "engine/space/candidate_space.hpp"

namespace evo {

/// Says which changes of one parameter make a neighbour of a candidate.
enum class Neighbourhood {
  kAnyValue,  ///< a change to any other value
  kNextValue  ///< for an ordered parameter, a change to the next valid value up or down;
              ///< for other parameters, a change to any other value
};

/// The neighbours of `candidate`: valid candidates that differ from it in exactly one parameter.
[[nodiscard]] std::vector<Candidate> neighbours(const CandidateSpace& space,
                                                const Candidate& candidate,
                                                Neighbourhood neighbourhood);

/// Number of parameters in which two candidates of one space differ.
[[nodiscard]] std::size_t hamming_distance(const Candidate& a, const Candidate& b);

/// A valid candidate close to `wish`: `wish` itself if it is valid; else a valid candidate at
/// Hamming distance 1; else the closest result of several walks. A walk starts at a random valid
/// candidate and, in random order, takes over each value of `wish` that keeps it valid.
[[nodiscard]] Candidate repair(const CandidateSpace& space, const Candidate& wish, Random& random);

/// The numbers 0 … n − 1 in random order.
[[nodiscard]] std::vector<std::size_t> random_order(std::size_t n, Random& random);

}  // namespace evo
