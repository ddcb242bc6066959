#pragma once

#include <atomic>
#include <chrono>
#include <exception>

namespace evo {

using SteadyTime = std::chrono::steady_clock::time_point;

/// When a run is to stop: somebody asks for it, or its time is over.
struct Stop {
  /// Set by whoever asks, such as a signal handler; null: nobody does. Must outlive the run.
  const std::atomic<bool>* requested = nullptr;
  SteadyTime deadline = SteadyTime::max();
};

/// The work at hand ended because somebody asked for it or its time was over, not because anything
/// failed. The work in flight is lost; what was recorded is not.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(bool out_of_time) : out_of_time_(out_of_time) {}

  [[nodiscard]] bool out_of_time() const { return out_of_time_; }
  [[nodiscard]] const char* what() const noexcept override {
    return out_of_time_ ? "out of time" : "interrupted";
  }

 private:
  bool out_of_time_;
};

}  // namespace evo
