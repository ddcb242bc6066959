#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/coordinator/background.hpp"
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
class InterpretedChecks final : public Background {
 public:
  /// `interpreter`: a virtual GPU; null for none.
  explicit InterpretedChecks(std::unique_ptr<DeviceService> interpreter);

  [[nodiscard]] bool has_interpreter() const { return interpreter_ != nullptr; }
  /// The name that selects the virtual GPU, "virtual:h200". Needs an interpreter.
  [[nodiscard]] const std::string& device_id() const { return interpreter_->info().id; }
  /// A problem that the interpreter refuses is left out with its reason; nothing is thrown.
  void set_up(const SessionSetup& setup);
  /// Leaves all kernels out, for this reason.
  void leave_out(std::string why) { left_out_ = std::move(why); }

  /// Checks these kernels, in this order, as soon as there is time; kernels that were wanted before
  /// and are not any more are dropped. A check that has begun goes on.
  void want(std::vector<KernelUnderTest> kernels);
  /// The outcome of a kernel's check; nothing while it is not known.
  [[nodiscard]] std::optional<InterpretedCheck> find(const std::string& kernel_key) const;
  /// Checks the kernel once more where its outcome allows it.
  void forget_what_may_be_repeated(const std::string& kernel_key);

  void collect() override;
  [[nodiscard]] std::vector<pollfd> interests() const override;
  [[nodiscard]] SteadyTime next_deadline() const override;

 private:
  void begin_next();
  [[nodiscard]] bool is_busy() const { return interpreter_ != nullptr && interpreter_->is_busy(); }

  std::unique_ptr<DeviceService> interpreter_;
  std::string left_out_;  ///< why no kernel is checked; empty where they are
  std::vector<KernelUnderTest> wanted_;
  std::string working_on_;  ///< the key
  std::map<std::string, InterpretedCheck> known_;
};

}  // namespace evo
