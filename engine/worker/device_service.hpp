#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/worker/event_loop.hpp"
#include "engine/worker/session.hpp"

namespace evo {

/// The reason why a request for a kernel has no result: one line of text that names the failed
/// step.
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

/// The interface to the gates that need a device. Only one request may run at a time. Requests
/// throw MissingError if the device is lost.
class DeviceService {
 public:
  virtual ~DeviceService() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Sets the names of the NVTX ranges, outermost first, in which profilers show later requests.
  virtual void set_ranges(std::vector<std::string> ranges) = 0;

  /// Sets the problem, template and options for all later requests, and throws if the worker
  /// refuses them.
  virtual Task<> set_up(SessionSetup setup) = 0;

  /// Runs the correctness gate. `limits_us`: for each of the kernel's shapes, a limit in µs on the
  /// kernel's time; if empty, there are no limits. A quick check ends early, with an imprecise
  /// time, if the kernel certainly exceeds a limit.
  virtual Task<Reply<CorrectnessResult>> check(const KernelUnderTest& kernel, CheckKind check_kind,
                                               std::vector<double> limits_us) = 0;
  /// Times the kernel. On a device that measures times, also launches the kernel many more times,
  /// and then checks its outputs (see Session::time()). A quick check has a shorter time limit for
  /// the additional launches. A kernel that is certainly slower than `early_stop_us` is timed
  /// coarsely.
  virtual Task<Reply<TimingResult>> time(const KernelUnderTest& kernel, const std::string& shape,
                                         CheckKind check_kind, double early_stop_us) = 0;
  virtual Task<Reply<EnergyResult>> energy(const KernelUnderTest& kernel, const std::string& shape,
                                           double window_s) = 0;
  /// Predicts the utilization of the GPU's units, on a device that predicts times.
  virtual Task<Reply<PredictedProfile>> profile(const KernelUnderTest& kernel,
                                                const std::string& shape) = 0;
  /// See Session::write_outputs().
  virtual Task<Reply<LaunchOutcome>> write_outputs(const KernelUnderTest& kernel,
                                                   const std::string& shape,
                                                   const std::string& folder) = 0;
  /// Compares the times of two kernels, on a device that measures times.
  virtual Task<Reply<PairResult>> compare(const KernelUnderTest& first,
                                          const KernelUnderTest& second,
                                          const std::string& shape) = 0;
};

}  // namespace evo
