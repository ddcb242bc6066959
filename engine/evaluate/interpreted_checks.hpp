#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/worker/device_service.hpp"

namespace evo {

/// How a kernel that is green on a GPU fared on a virtual one.
struct InterpretedCheck {
  std::vector<CheckResult> checks = {};
  /// The defect that the interpreter found and the GPU did not show: a race, a stray or
  /// uninitialised access, a divergent barrier.
  std::optional<Rejection> rejection = {};
  /// Why the interpreter has no verdict; empty where it has one.
  std::string left_out = {};
  /// The check ended for a reason that need not come back, such as its time limit.
  bool may_be_repeated = false;
};

/// Executes kernels that are green on a GPU on a virtual GPU as well, in a process that takes only
/// processor time that nobody else wants. Only defects of the execution count: a result outside the
/// tolerance is no verdict, because the GPU has judged the results and the interpreter computes
/// approximate functions in its own way.
class InterpretedChecks {
 public:
  /// `interpreter`: a virtual GPU; null for none. `loop` must outlive this.
  InterpretedChecks(EventLoop& loop, std::unique_ptr<DeviceService> interpreter);

  [[nodiscard]] bool has_interpreter() const { return interpreter_ != nullptr; }
  /// The name that selects the virtual GPU, "virtual:h200". Needs an interpreter.
  [[nodiscard]] const std::string& device_id() const { return interpreter_->info().id; }
  /// A problem that the interpreter refuses is left out with its reason; nothing is thrown for it.
  Task<> set_up(SessionSetup setup);
  /// Leaves all kernels out, for this reason.
  void leave_out(std::string why) { left_out_ = std::move(why); }

  /// Checks these kernels, in this order, as soon as there is time; kernels that were wanted before
  /// and are not any more are dropped. A check that has begun goes on.
  void want(std::vector<KernelUnderTest> kernels);
  /// The check of this kernel; it goes before all others. A check that ran out of time before is
  /// tried once more.
  Task<InterpretedCheck> check(KernelUnderTest kernel);

 private:
  [[nodiscard]] std::optional<InterpretedCheck> find(const std::string& kernel_key) const;
  [[nodiscard]] const KernelUnderTest* next() const;
  Task<> work();

  EventLoop& loop_;
  std::unique_ptr<DeviceService> interpreter_;
  Event changed_;
  std::string left_out_;  ///< why no kernel is checked; empty where they are
  std::vector<KernelUnderTest> wanted_;
  bool is_working_ = false;
  std::map<std::string, InterpretedCheck> known_;
};

}  // namespace evo
