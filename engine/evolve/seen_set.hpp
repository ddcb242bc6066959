#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "engine/core/candidate.hpp"
#include "engine/core/random.hpp"
#include "engine/space/candidate_space.hpp"

namespace evo {

/// The candidates that were proposed or observed before. Strategies use the set so that no
/// candidate is evaluated twice.
class SeenSet {
 public:
  /// `space` must outlive this object.
  explicit SeenSet(const CandidateSpace& space) : space_(&space) {}

  [[nodiscard]] bool contains(const Candidate& candidate) const {
    return seen_.contains(candidate);
  }
  /// Adds a candidate. Returns false if the set already contained the candidate.
  bool add(const Candidate& candidate) { return seen_.insert(candidate).second; }

  /// A random valid candidate that is not in the set. Returns next_unseen() if 88 random draws find
  /// none, as when nearly all candidates were seen. Does not add the candidate to the set.
  [[nodiscard]] std::optional<Candidate> random_unseen(Random& random);

  /// The first valid candidate, in the order of the space, that is not in the set; nullopt if all
  /// are in the set. Does not add the candidate to the set.
  [[nodiscard]] std::optional<Candidate> next_unseen();

 private:
  const CandidateSpace* space_;
  std::unordered_set<Candidate, CandidateHash> seen_;
  std::uint64_t cursor_ = 0;  ///< all candidates of lower rank are seen or invalid
};

}  // namespace evo
