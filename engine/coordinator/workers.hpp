#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "engine/coordinator/background.hpp"
#include "engine/coordinator/compilations.hpp"
#include "engine/coordinator/interrupted.hpp"
#include "engine/worker/device_service.hpp"

namespace evo {

/// Where the time of a run went, as its coordinator saw it. One instant counts for the compilers
/// and for the device.
struct PhaseTimes {
  double compile_ms = 0;  ///< at least one compiler was running
  double starved_ms = 0;  ///< the device waited for a compiler
  double check_ms = 0;    ///< the device was checking
  double time_ms = 0;     ///< the device was timing
  double confirm_ms = 0;  ///< the device was comparing pairs or timing the control
};

/// What the workers are doing at one instant.
struct Activity {
  std::size_t compiling = 0;
  std::string_view device = {};  ///< "checking", "timing", "confirming"; empty: it waits
};

/// The compilers and the device of a run. Waiting for one keeps the other going: while the device
/// works, finished compilations are stored and the next ones start. What the device has answered
/// goes before them: it has nothing to do until it is asked again.
///
/// Every wait throws Interrupted when it is to stop; the device then gives up what it was doing.
class Workers {
 public:
  /// All references and pointers must outlive this. `background`: what else goes on during every
  /// wait. `device`: null for none.
  Workers(Compilations& compilations, std::vector<Background*> background, DeviceService* device,
          Clock& clock)
      : compilations_(compilations),
        background_(std::move(background)),
        device_(device),
        clock_(clock) {}

  /// Of all waiting from here on.
  void stop_when(const Stop& stop) { stop_ = stop; }
  [[nodiscard]] const Stop& stop() const { return stop_; }

  [[nodiscard]] bool has_device() const { return device_ != nullptr; }

  /// Done once, at the beginning of the next wait: work of the coordinator's own while the workers
  /// are busy.
  void meanwhile(std::function<void()> work) { meanwhile_ = std::move(work); }

  /// Called with what the workers are doing, some ten times a second while they are waited for.
  void when_waiting(std::function<void(const Activity&)> watch) { watch_ = std::move(watch); }

  /// Done whenever compilations may be over.
  void when_compiled(std::function<void()> work) { when_compiled_ = std::move(work); }

  [[nodiscard]] Built wait_for(Compilations::Ticket ticket);
  /// Whether wait_for() would return at once. Looks at what the compilers have finished only where
  /// collect() or a wait did.
  [[nodiscard]] bool is_compiled(Compilations::Ticket ticket) const {
    return compilations_.look(ticket) != nullptr;
  }
  void collect();
  /// Until a compiler may be done.
  void wait_for_compilers();
  /// Waits until `take` returns a value; it is asked again whenever a worker has answered.
  template <typename Take>
  [[nodiscard]] auto wait_until(const Take& take) {
    while (true) {
      require_time_left();
      collect();
      if (auto taken = take()) return *std::move(taken);
      wait_for_news(&PhaseTimes::starved_ms);
    }
  }

  /// What the device is asked for, for the account of the time.
  enum class Purpose { kJudging, kConfirming };

  // Need a device.
  [[nodiscard]] OrFailure<CorrectnessResult> check(const KernelUnderTest& kernel, Effort effort,
                                                   Purpose purpose);
  [[nodiscard]] OrFailure<TimingResult> time(const KernelUnderTest& kernel,
                                             const std::string& shape, Effort effort,
                                             double give_up_us, Purpose purpose);
  [[nodiscard]] OrFailure<EnergyResult> energy(const KernelUnderTest& kernel,
                                               const std::string& shape, double window_s,
                                               Purpose purpose);
  [[nodiscard]] OrFailure<PredictedProfile> profile(const KernelUnderTest& kernel,
                                                    const std::string& shape);
  [[nodiscard]] OrFailure<PairResult> compare(const KernelUnderTest& first,
                                              const KernelUnderTest& second,
                                              const std::string& shape);

  /// Of the last check, time or compare.
  [[nodiscard]] double last_ms() const { return last_ms_; }
  [[nodiscard]] const PhaseTimes& times() const { return times_; }

 private:
  /// `phase`: what the device is doing, or how the wait for a compiler counts. What compilers have
  /// finished is noted where the device is waited for.
  void wait_for_news(double PhaseTimes::*phase);
  [[nodiscard]] DeviceService::Reply wait_for_reply(double PhaseTimes::*phase);
  void require_time_left();

  Compilations& compilations_;
  std::vector<Background*> background_;
  DeviceService* device_;
  Clock& clock_;
  Stop stop_;
  std::function<void()> meanwhile_;
  std::function<void()> when_compiled_;
  std::function<void(const Activity&)> watch_;
  PhaseTimes times_;
  double last_ms_ = 0;
};

}  // namespace evo
