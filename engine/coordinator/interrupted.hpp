#pragma once

#include <atomic>
#include <exception>

#include "engine/worker/clock.hpp"

namespace evo {

/// When to stop waiting for workers: asked to, or out of time.
struct Stop {
  /// Of whoever may ask; null: nobody does. Must outlive all waiting.
  const std::atomic<bool>* requested = nullptr;
  SteadyTime deadline = SteadyTime::max();
};

/// The work at hand ended because somebody asked for it or its time was over, not because anything
/// failed. What the workers were doing then is lost; what was recorded is not.
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
