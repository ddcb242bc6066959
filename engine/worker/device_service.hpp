#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/worker/clock.hpp"
#include "engine/worker/session.hpp"

namespace evo {

/// Why there is no answer: a line for people that blames the kernel and names the step it was in.
struct WorkerFailure {
  std::string reason;
};

/// What came of a request to a device worker.
template <typename Result>
using OrFailure = std::variant<Result, WorkerFailure>;

/// The boundary to the gates that need a device. One request at a time.
class DeviceService {
 public:
  struct Reply {
    /// Of the kind that was asked for, or a failure.
    std::variant<CorrectnessResult, TimingResult, PairResult, EnergyResult, PredictedProfile,
                 WorkerFailure>
        result;
    double wall_ms = 0;
  };

  virtual ~DeviceService() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Names of what is being done, the outermost first, around all requests that follow: for
  /// profilers that show NVTX ranges.
  virtual void set_ranges(std::vector<std::string> ranges) = 0;

  /// Sets the problem for all requests that follow. Throws when it is refused. It may take long:
  /// `meanwhile` is called at once and then now and then, unless it is empty.
  virtual void set_up(const SessionSetup& setup, const std::function<void()>& meanwhile) = 0;

  virtual void submit_check(const KernelUnderTest& kernel, Effort effort) = 0;
  /// A screening spends little on ageing the kernel; anything else all that it takes.
  virtual void submit_time(const KernelUnderTest& kernel, const std::string& shape, Effort effort,
                           double give_up_us) = 0;
  virtual void submit_energy(const KernelUnderTest& kernel, const std::string& shape,
                             double window_s) = 0;
  /// Needs a device that predicts.
  virtual void submit_profile(const KernelUnderTest& kernel, const std::string& shape) = 0;
  virtual void submit_compare(const KernelUnderTest& first, const KernelUnderTest& second,
                              const std::string& shape) = 0;

  /// The reply to the request if it has come, or the failure if the step's time is over. Never
  /// waits. Throws an error that no kernel can be blamed for.
  [[nodiscard]] virtual std::optional<Reply> poll() = 0;
  [[nodiscard]] virtual bool is_busy() const = 0;
  /// Ends the request, if there is one, without a reply.
  virtual void abandon() = 0;

  /// While busy: what to poll for, and when the step's time is over.
  [[nodiscard]] virtual std::vector<pollfd> interests() const = 0;
  [[nodiscard]] virtual SteadyTime next_deadline() const = 0;
};

}  // namespace evo
