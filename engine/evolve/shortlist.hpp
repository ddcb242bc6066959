#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/evolve/prediction_error.hpp"

namespace evo {

struct ShortlistOptions {
  std::size_t proposals = 4;  ///< for each candidate that is measured; at least 2
  std::uint64_t seed = 1;
};

/// Decides which of many proposals are measured, by their predicted times:
///
///   1. Of what is measured, a quarter are new proposals, drawn beforehand: surprises, and the only
///      fair sample of how well predictions rank. All other proposals are predicted and wait.
///   2. For every `proposals`, those that wait give up the one with the lowest predicted time,
///      corrected by what was learned of the error (PredictionError). What waits, waits until it is
///      taken: nothing is lost for good.
///   3. While the predicted times of the last surprises do not rank their measured ones, every new
///      proposal is measured, and those that wait are taken one after the other.
///
/// State is a function of the options and the sequence of calls.
class Shortlist {
 public:
  /// `space` must outlive this.
  Shortlist(const CandidateSpace& space, const ShortlistOptions& options);

  /// The one that waits and is to be measured next, when its turn has come.
  [[nodiscard]] std::optional<Candidate> take_due();
  /// The same whether or not its turn has come: there are no more proposals.
  [[nodiscard]] std::optional<Candidate> take_any();
  /// Whether the next new proposal is measured; otherwise it is predicted and waits. Draws.
  [[nodiscard]] bool measures_next();

  /// A new proposal that is not measured has been predicted.
  void wait(const Candidate& candidate, double predicted_us);
  /// A candidate that was measured whatever its prediction.
  void learn(const Candidate& candidate, double predicted_us, double measured_us);
  /// One that had waited.
  void learn_returned(const Candidate& candidate, double measured_us);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// Of the last surprises, measured against predicted; nothing while there are too few.
  [[nodiscard]] std::optional<double> rank_correlation() const;
  /// Whether predictions are trusted.
  [[nodiscard]] bool is_on() const;

 private:
  struct Waiting {
    Candidate candidate;
    double predicted_us = 0;
  };
  struct Surprise {
    double predicted_us = 0;
    double measured_us = 0;
  };

  [[nodiscard]] std::size_t most_promising();

  ShortlistOptions options_;
  Random random_;
  PredictionError error_;
  std::vector<Waiting> waiting_;  ///< oldest first
  /// Predicted times of those that were taken and not measured yet.
  std::unordered_map<Candidate, double, CandidateHash> taken_;
  std::deque<Surprise> surprises_;  ///< the last ones
  std::size_t drawn_ = 0;           ///< to be measured, so far
  double due_ = 0;                  ///< candidates that wait and should have been measured
};

}  // namespace evo
