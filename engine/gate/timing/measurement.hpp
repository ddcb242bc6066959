#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "engine/core/random.hpp"
#include "engine/core/rejection.hpp"
#include "engine/core/statistics.hpp"
#include "engine/gate/card/card_watch.hpp"
#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/timing/stopping_rule.hpp"
#include "engine/gate/timing/stopwatch.hpp"

namespace evo {

struct TimingResult {
  std::optional<Timing> timing = {};
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
  bool aged = true;  ///< false: more launches are required before it may enter the elite
  /// state of the card during timing, if the device reports it
  std::optional<CardState> card = {};
};

/// Measures the time of one kernel on one shape: takes samples until a StoppingRule has enough,
/// with verifications (Stopwatch::verify) between samples and at the end. Also queries the card;
/// samples of a throttled card are repeated.
class Measurement {
 public:
  /// All references must outlive this object.
  Measurement(const Stopwatch::Setup& setup, CardWatch& card, const LoadedKernel& kernel,
              const Shape& shape, const Progress& progress);

  /// Call it once.
  [[nodiscard]] TimingResult run();

 private:
  void take_samples();
  void take_sample();
  /// Skips the warm-up if a few launches may already show that the kernel is too slow.
  [[nodiscard]] bool looks_hopeless() const;
  void warm_up_after_all();
  void doubt(Stopwatch::Doubt what);
  void doubt_in_turn();
  void doubt_at_the_end();
  /// Long launches made for other purposes count as samples, too.
  void add_others();
  /// False: the samples since the last query of the card are invalid.
  bool look_at_card();
  [[nodiscard]] bool is_over() const { return stopwatch_.fault() || result_.rejection; }

  const Shape& shape_;
  const Progress& progress_;
  CardWatch& card_;
  Stopwatch stopwatch_;
  Random random_;
  StoppingOptions stopping_;
  StoppingRule rule_;
  StoppingRule counted_;  ///< up to the last query of the card
  std::optional<StoppingOptions::Hopeless> early_;
  double since_look_us_ = 0;
  bool is_warm_ = true;
  bool is_taken_again_ = false;  ///< because the launches became slower
  /// Ordered by the number of samples before them; kernels cannot predict these positions.
  std::map<std::size_t, Stopwatch::Doubt> doubts_;
  TimingResult result_;
};

}  // namespace evo
