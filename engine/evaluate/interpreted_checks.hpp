#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/worker/device_service.hpp"

namespace evo {

/// The result of interpreting a kernel that is green on a GPU.
struct InterpretedCheck {
  std::vector<CheckResult> checks = {};
  /// A defect that the interpreter found and the GPU did not show: a race, an out-of-bounds or
  /// uninitialised access, or a divergent barrier.
  std::optional<Rejection> rejection = {};
  /// Why the interpreter has no verdict; empty if there is a verdict.
  std::string left_out = {};
  /// Whether the check ended for a reason that may be temporary, such as its time limit.
  bool may_be_repeated = false;
};

/// Executes kernels that are green on a GPU again on a virtual GPU, in a process with the lowest
/// priority. Only execution defects count. A result outside of the tolerance is ignored, because
/// the GPU has already judged the results, and the interpreter computes approximate functions
/// differently.
class InterpretedChecks {
 public:
  /// `interpreter`: a virtual GPU, or null. `loop` must outlive this object.
  InterpretedChecks(EventLoop& loop, std::unique_ptr<DeviceService> interpreter);

  [[nodiscard]] bool has_interpreter() const { return interpreter_ != nullptr; }
  /// The name of the virtual GPU, such as "virtual:h200". Requires an interpreter.
  [[nodiscard]] const std::string& device_id() const { return interpreter_->info().id; }
  /// Sets the interpreter up. If the interpreter does not support the problem, all kernels are
  /// skipped for this reason, but nothing is thrown.
  Task<> set_up(SessionSetup setup);
  /// After this call, all kernels are skipped, and `why` is the reason in their results.
  void leave_out(std::string why) { left_out_ = std::move(why); }

  /// Requests checks of `kernels`, in this order, with the lowest priority. Drops kernels of an
  /// earlier request that are not in this request. A running check continues.
  void want(std::vector<KernelUnderTest> kernels);
  /// Returns the result of an earlier check of `kernel`. If there is none, or if its
  /// may_be_repeated is true, drops all other requests, checks `kernel`, and waits for the result.
  Task<InterpretedCheck> check(KernelUnderTest kernel);

 private:
  [[nodiscard]] std::optional<InterpretedCheck> find(const std::string& kernel_key) const;
  [[nodiscard]] const KernelUnderTest* next() const;
  Task<> work();

  EventLoop& loop_;
  std::unique_ptr<DeviceService> interpreter_;
  Event changed_;
  std::string left_out_;  ///< why all kernels are skipped; empty if they are checked
  std::vector<KernelUnderTest> wanted_;
  bool is_working_ = false;
  std::map<std::string, InterpretedCheck> known_;
};

}  // namespace evo
