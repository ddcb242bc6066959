#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

#include "engine/evolve/kernel.hpp"
#include "engine/evolve/seen_set.hpp"
#include "engine/space/candidate_space.hpp"

namespace evo {

/// Settings of a ProposalPool: how many candidates the operators of breed() make, and how many
/// candidates climb() keeps and extends. Invalid, seen or repeated candidates are not added, so
/// fewer may join the pool.
struct PoolSettings {
  /// valid copies of each parent with one changed macro: all, or a random selection of this number
  /// if there are more
  std::size_t neighbours = 80;
  std::size_t mutants = 120;  ///< copies of a parent with two or three random changes
  /// offspring of two parents, with probability 1/2 with one more change
  std::size_t crossovers = 50;
  std::size_t randoms = 150;
  std::size_t kept = 60;     ///< climb() keeps this many of the most promising candidates
  std::size_t climbers = 3;  ///< climb() adds the neighbours of this many of them
};

/// The candidates from which the proposals of a generation are chosen. All candidates of a pool are
/// valid, unseen and distinct.
class ProposalPool {
 public:
  ProposalPool(const CandidateSpace& space, const Encoding& encoding, SeenSet& seen)
      : space_(&space), encoding_(&encoding), seen_(&seen) {}

  /// Adds those of `candidates` that are valid, unseen and not yet in the pool.
  void add(std::span<const Candidate> candidates);

  /// Applies the operators to `parents`, which are sorted (best first) and not empty.
  void breed(std::span<const Candidate> parents, const PoolSettings& settings, Random& random);

  /// Keeps the first `settings.kept` candidates of `order` (indices into candidates()), and adds
  /// the neighbours of the first `settings.climbers` candidates, at most `settings.neighbours` for
  /// each.
  void climb(std::span<const std::size_t> order, const PoolSettings& settings, Random& random);

  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  /// All candidates, encoded.
  [[nodiscard]] std::vector<std::uint16_t> encoded() const;

 private:
  void add(const Candidate& candidate);
  void add_neighbours(const Candidate& candidate, std::size_t most, Random& random);
  [[nodiscard]] Candidate mutated(Candidate candidate, std::size_t changes, Random& random) const;
  [[nodiscard]] Candidate crossed(std::span<const Candidate> parents, Random& random) const;

  const CandidateSpace* space_;
  const Encoding* encoding_;
  SeenSet* seen_;
  std::vector<Candidate> candidates_;
  std::unordered_set<Candidate, CandidateHash> members_;
};

}  // namespace evo
