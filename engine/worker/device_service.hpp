#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/worker/event_loop.hpp"
#include "engine/worker/session.hpp"

namespace evo {

/// The reason why a kernel has no result: one line of text that names the failed step.
struct WorkerFailure {
  std::string reason;
};

/// The result of a request to a device worker, or the reason why there is no result.
template <typename Result>
using OrFailure = std::variant<Result, WorkerFailure>;

/// The result of a request, and the time that it took.
template <typename Result>
struct Reply {
  OrFailure<Result> result;
  double wall_ms = 0;
};

/// The interface to the gates that need a device. Takes one request at a time. Requests throw
/// MissingError if the device itself is lost.
class DeviceService {
 public:
  virtual ~DeviceService() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Sets the names of the NVTX ranges, outermost first, in which profilers show later requests.
  virtual void set_ranges(std::vector<std::string> ranges) = 0;

  /// Sets the problem for all later requests. Throws if the worker refuses the problem.
  virtual Task<> set_up(SessionSetup setup) = 0;

  /// `limits_us`: a time limit for each of the kernel's shapes. A screening ends early, with a
  /// rough time, if the kernel certainly exceeds its limit. Empty: no limits.
  virtual Task<Reply<CorrectnessResult>> check(const KernelUnderTest& kernel, Effort effort,
                                               std::vector<double> limits_us) = 0;
  /// Times the kernel, and ages it; in a screening, ageing has a shorter time limit. A kernel that
  /// is certainly slower than `early_stop_us` is timed coarsely.
  virtual Task<Reply<TimingResult>> time(const KernelUnderTest& kernel, const std::string& shape,
                                         Effort effort, double early_stop_us) = 0;
  virtual Task<Reply<EnergyResult>> energy(const KernelUnderTest& kernel, const std::string& shape,
                                           double window_s) = 0;
  /// Needs a device that predicts.
  virtual Task<Reply<PredictedProfile>> profile(const KernelUnderTest& kernel,
                                                const std::string& shape) = 0;
  /// See Session::write_outputs().
  virtual Task<Reply<LaunchOutcome>> write_outputs(const KernelUnderTest& kernel,
                                                   const std::string& shape,
                                                   const std::string& folder) = 0;
  /// Needs a device that measures.
  virtual Task<Reply<PairResult>> compare(const KernelUnderTest& first,
                                          const KernelUnderTest& second,
                                          const std::string& shape) = 0;
};

}  // namespace evo
