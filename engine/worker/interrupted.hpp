#pragma once

#include <atomic>
#include <chrono>
#include <exception>

namespace evo {

using SteadyTime = std::chrono::steady_clock::time_point;

/// The conditions that stop a run: a request, or the end of its time.
struct Stop {
  /// A flag that requests the stop, set by a signal handler for example. The flag must outlive the
  /// run. Null: no flag.
  const std::atomic<bool>* requested = nullptr;
  SteadyTime deadline = SteadyTime::max();
};

/// Thrown when a run ends on request or because its time is over. Results that are not recorded yet
/// are lost; at the time limit, Tuner still records the finished evaluations.
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
