#pragma once

#include <cstddef>
#include <vector>

#include "engine/space/candidate_space.hpp"

namespace evo {

/// Which changes of one parameter make a neighbour.
enum class Neighbourhood {
  kAnyValue,  ///< to any other value
  kNextValue  ///< of an ordered parameter to the next valid value up or down only
};

/// All valid candidates that differ from `candidate` in exactly one parameter. With kNextValue the
/// step goes on past invalid values of the same parameter to the first valid one.
[[nodiscard]] std::vector<Candidate> neighbours(const CandidateSpace& space,
                                                const Candidate& candidate,
                                                Neighbourhood neighbourhood);

/// Number of parameters in which two candidates of one space differ.
[[nodiscard]] std::size_t hamming_distance(const Candidate& a, const Candidate& b);

/// A valid candidate close to `wish`: itself, else one at Hamming distance 1 if there is any, else
/// the closest of several walks that start at a random valid candidate and take over `wish`'s
/// values one by one, in random order, as long as the candidate stays valid.
[[nodiscard]] Candidate repair(const CandidateSpace& space, const Candidate& wish, Random& random);

/// 0 … n − 1 in random order.
[[nodiscard]] std::vector<std::size_t> random_order(std::size_t n, Random& random);

}  // namespace evo
