#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "engine/gate/resource.hpp"
#include "engine/problem/problem.hpp"
#include "engine/worker/compile_pool.hpp"
#include "engine/worker/device_client.hpp"

namespace evo {

/// One candidate on its way through the gates.
struct KernelJob {
  CompileRequest compile;
  Values macros;  ///< the configuration, for launch, workspace and tolerance expressions
};

/// All that was found out about one candidate.
struct Judgement {
  CompilationRecord compilation;
  std::string kernel_key;  ///< equal for candidates that are one kernel; empty unless it built
  LaunchConfig launch;     ///< on the timed shape
  std::vector<CheckResult> checks = {};
  std::optional<Timing> timing = {};
  std::optional<Rejection> rejection = {};
  bool duplicate = false;  ///< its kernel was judged before: not run again
  bool cached = false;     ///< the compilation came from the database
  double compile_ms = 0;   ///< 0 when cached
  double check_ms = 0;
  double time_ms = 0;

  [[nodiscard]] bool is_green() const { return timing && !rejection && !duplicate; }
};

/// Where the time of a pipeline went.
struct PhaseTimes {
  double wall_ms = 0;
  double compile_ms = 0;  ///< at least one compiler was running
  double check_ms = 0;    ///< the device was checking
  double time_ms = 0;     ///< the device was timing
  double confirm_ms = 0;  ///< the device was comparing pairs or timing the control
  double busy_ms = 0;     ///< device or compilers
};

/// What all candidates of a pipeline have in common.
struct PipelineSetup {
  const Problem* problem = nullptr;
  const KernelSpec* kernel = nullptr;
  const Shape* timed = nullptr;
  ResourcePolicy policy;
  DeviceInfo device;
};

/// Takes candidates through the gates in order: build, resource, correctness, timing. Compilations
/// run side by side and beside the device; the device takes candidates in their order, so that the
/// outcome does not depend on which compiler is quicker.
class Pipeline {
 public:
  using Finished = std::function<void(std::size_t index, const Judgement& judgement)>;

  /// All references must outlive the pipeline. `device`: null stops after the resource gate.
  Pipeline(PipelineSetup setup, Store& store, CompilePool& compilers, DeviceClient* device)
      : setup_(std::move(setup)), store_(store), compilers_(compilers), device_(device) {}

  /// Judges all jobs; `finished` is told of each, in the order of the jobs. Kernels slower than
  /// `give_up_us` are timed roughly. Stops early when `stop` becomes true: the result then holds
  /// only the first jobs, up to the first one that was not finished.
  [[nodiscard]] std::vector<Judgement> judge(std::vector<KernelJob> jobs, double give_up_us,
                                             const std::atomic<bool>& stop,
                                             const Finished& finished);

  /// Takes note of a kernel judged earlier (in a run that is resumed), so that it counts as known.
  void remember(const std::string& kernel_key) { known_kernels_.insert(kernel_key); }

  [[nodiscard]] const PhaseTimes& times() const { return times_; }

 private:
  class Batch;

  PipelineSetup setup_;
  Store& store_;
  CompilePool& compilers_;
  DeviceClient* device_;
  std::set<std::string> known_kernels_;
  PhaseTimes times_;
};

/// The kernel of a judgement as a device worker takes it.
[[nodiscard]] KernelUnderTest kernel_under_test(const CompilationRecord& compilation,
                                                const std::string& kernel_key,
                                                const std::string& entry, const Values& macros);

}  // namespace evo
