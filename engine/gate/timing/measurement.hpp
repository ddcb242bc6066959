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
  std::int64_t launches = 0;  ///< that were made of the kernel; 0 when predicted
  bool aged = true;           ///< false: launched less often than before it may enter the elite
  std::optional<CardState> card = {};  ///< meanwhile, where the device tells
};

/// The time of one kernel on one shape, on a device that measures: samples until a StoppingRule has
/// enough of them, with doubts (Stopwatch::verify) between those and at the end, and looks at the
/// card: samples of a throttled one are taken again.
class Measurement {
 public:
  /// All references must outlive this.
  Measurement(const Stopwatch::Setup& setup, CardWatch& card, const LoadedKernel& kernel,
              const Shape& shape, const Progress& progress);

  /// To be called once.
  [[nodiscard]] TimingResult run();

 private:
  void take_samples();
  void take_sample();
  /// Without a warm-up, where few launches may show that it is not worth one.
  [[nodiscard]] bool looks_hopeless() const;
  void warm_up_after_all();
  void doubt(Stopwatch::Doubt what);
  void doubt_in_turn();
  void doubt_at_the_end();
  /// Long launches that were made for another reason are samples as well.
  void add_others();
  /// False: the samples since the last look do not count.
  bool look_at_card();
  [[nodiscard]] bool is_over() const { return stopwatch_.fault() || result_.rejection; }

  const Shape& shape_;
  const Progress& progress_;
  CardWatch& card_;
  Stopwatch stopwatch_;
  Random random_;
  StoppingOptions stopping_;
  StoppingRule rule_;
  StoppingRule counted_;  ///< up to the last look at the card
  double since_look_us_ = 0;
  bool is_warm_ = true;
  /// By the number of samples before them: times that no kernel knows.
  std::map<std::size_t, Stopwatch::Doubt> doubts_;
  TimingResult result_;
};

}  // namespace evo
