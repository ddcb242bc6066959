#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "engine/core/candidate.hpp"
#include "engine/core/random.hpp"
#include "engine/space/candidate_space.hpp"

namespace evo {

/// Candidates that were proposed or observed. None is evaluated twice.
class SeenSet {
 public:
  /// `space` must outlive this object.
  explicit SeenSet(const CandidateSpace& space) : space_(&space) {}

  [[nodiscard]] bool contains(const Candidate& candidate) const {
    return seen_.contains(candidate);
  }
  /// Adds a candidate. False if it was present already.
  bool add(const Candidate& candidate) { return seen_.insert(candidate).second; }
  [[nodiscard]] std::size_t size() const { return seen_.size(); }

  /// A valid candidate that is not in the set, uniformly random (in rank order once nearly all are
  /// seen); nullopt if all are seen. Does not add it.
  [[nodiscard]] std::optional<Candidate> random_unseen(Random& random);

  /// The unseen valid candidate of lowest rank; nullopt if all are seen. Does not add it.
  [[nodiscard]] std::optional<Candidate> next_unseen();

 private:
  const CandidateSpace* space_;
  std::unordered_set<Candidate, CandidateHash> seen_;
  std::uint64_t cursor_ = 0;  ///< every rank below it is seen or empty
};

}  // namespace evo
