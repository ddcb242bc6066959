#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/check_kind.hpp"
#include "engine/gate/correctness/check_times.hpp"
#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/correctness/output_judge.hpp"
#include "engine/gate/correctness/tolerance_audit.hpp"
#include "engine/gate/correctness/trials.hpp"
#include "engine/gate/correctness/workspace.hpp"

namespace evo {

/// The time of the machine's steady clock in milliseconds.
[[nodiscard]] double steady_ms();

struct CorrectnessOptions {
  std::size_t seeds = 5;  ///< number of check cases, each with its own inputs, for each shape
  /// Shapes with more floating-point operations than this are checked with one seed and, on a
  /// virtual GPU, without a repeated launch.
  double flops_for_all_seeds = 1e18;
  /// On a virtual GPU, shapes with more floating-point operations than this are checked by a sample
  /// with about this number of operations, if SampledCheck or ElementSample can check them.
  double flops_of_whole_grids = 1e18;
  /// On a virtual GPU, a quick check executes about this number of floating-point operations on a
  /// shape, by fewer launches or by a part of the grid.
  double flops_of_quick_check = 1e18;
  /// On a virtual GPU, each thread counts as at least this number of floating-point operations,
  /// because elementwise kernels may launch many threads for few operations.
  double flops_of_thread = 0;
  /// Shapes are checked in ascending order of work, as long as their total number of floating-point
  /// operations does not exceed this limit. The first shape is always checked.
  double flops_of_all_shapes = 1e18;
  std::function<double()> now_ms = steady_ms;  ///< the clock that times launches
};

/// Limits that end a check early. On a GPU, the check of a shape with a limit ends when the kernel
/// is certainly slower than the limit: after one very long launch, unless the kernel runs for the
/// first time; after two long launches; or after three short ones.
struct EarlyStop {
  const CheckTimes* times = nullptr;  ///< null: no check ends early
  bool was_idle = false;              ///< whether the device was idle before the check
  /// The limit in µs for each shape, by shape name. A shape that is not in `limit_us` has no limit.
  std::map<std::string, double> limit_us = {};
};

/// The correctness gate.
///
/// The gate checks the shapes in ascending order of work. On each shape, the gate first requires
/// that the tolerance refuses typical wrong results (ToleranceAudit). A shape with too much work
/// for a virtual GPU is checked in part if SampledCheck or ElementSample can check it. On other
/// shapes, the gate takes these steps for every seed:
///   1. poison the outputs with a new value (poison_of_run), restore inout arguments, launch;
///   2. check that guard zones are intact, that inputs are unchanged, and that every output element
///      is written (if the device tracks writes; otherwise step 4 detects unwritten elements);
///   3. check that every output is within the tolerance of the reference (OutputJudge).
/// The gate takes these further steps once for each shape, on the first seed:
///   4. launch again over another poison and require the same bits (or, for a template that is not
///      deterministic, agreement within the tolerance); this also finds unwritten elements;
///   5. on a virtual GPU, if two launches on the same input left the workspaces or the kernel's
///      variables different: launch until this state repeats, at most kAgedLaunches times, and
///      check again. If the launches on the other seeds have changed this state, repeat step 5 with
///      all inputs in turn;
///   6. if the kernel may start while the kernel before it still runs: launch once for each input,
///      after a kernel that writes this input with a delay;
///   7. on a GPU, if there are fewer seeds than poisons: launch over the remaining poisons.
/// At the end, the gate requires that a comparison with the expected outputs could detect wrong
/// results (ReferenceAudit).
///
/// A check other than a full check makes fewer launches if a launch takes long. On a GPU, the
/// number of launches depends on the launch time (launches_allowed), and all launches on a shape
/// after the first two are queued together (Trials). On a virtual GPU, the number of launches of a
/// quick check depends on the shape's work, so that checks are reproducible.
class CorrectnessGate {
 public:
  /// All objects passed by reference must outlive this object.
  CorrectnessGate(BufferWork& work, const Problem& problem, CaseSet& cases, OutputJudge& judge,
                  const CorrectnessOptions& options)
      : work_(work),
        device_(work.device()),
        problem_(problem),
        cases_(cases),
        judge_(judge),
        tolerances_(work, problem, cases),
        options_(options) {}

  [[nodiscard]] CorrectnessResult check(const LoadedKernel& kernel,
                                        std::vector<const Shape*> shapes, CheckKind check_kind,
                                        const EarlyStop& stop, const Progress& progress);

  /// On the shape of `shapes` with the least work, launches the kernel `launches` times, or as
  /// often as fits into `most_ms`, and then makes a checked launch. Launches nothing if the kernel
  /// keeps no data between launches. Rejects the kernel at the timing gate if its launches become
  /// much slower. Use check_aged() for kernels that were timed with fewer launches than a user's
  /// program makes. check_aged() needs a GPU. CorrectnessResult::complete is false if fewer than
  /// `launches` launches were made.
  [[nodiscard]] CorrectnessResult check_aged(const LoadedKernel& kernel,
                                             std::vector<const Shape*> shapes, int launches,
                                             double most_ms, const Progress& progress);

 private:
  /// One check of one kernel.
  struct Job {
    const LoadedKernel& kernel;
    CheckKind check_kind;
    const EarlyStop& stop;
    const Progress& progress;
    bool has_run = false;  ///< whether the kernel has already run on another shape
  };

  void sort_by_work(std::vector<const Shape*>& shapes) const;
  [[nodiscard]] CorrectnessResult check_shape(const Job& job, const Shape& shape);
  [[nodiscard]] CorrectnessResult check_whole(const Job& job, const Shape& shape,
                                              const Workspace& workspace);
  void check_early_start(Trials& trials, const LoadedKernel& kernel, const CheckCase& data,
                         double launch_ms) const;
  [[nodiscard]] std::optional<CorrectnessResult> check_part(const Job& job, const Shape& shape,
                                                            const Workspace& workspace);
  [[nodiscard]] double work_of(const Shape& shape) const;
  [[nodiscard]] bool has_drawn_inputs() const;
  [[nodiscard]] std::size_t seeds_for(const Shape& shape, CheckKind check_kind);
  [[nodiscard]] double quick_check_work(const LoadedKernel& kernel, const Shape& shape);
  /// Whether a launch has so much work that a check with `check_kind` runs only a part of its grid.
  [[nodiscard]] bool is_too_large(const LoadedKernel& kernel, const Shape& shape,
                                  CheckKind check_kind);
  [[nodiscard]] bool can_be_sampled(const Shape& shape) const;
  [[nodiscard]] bool repeats(const LoadedKernel& kernel, const Shape& shape, CheckKind check_kind,
                             double first_launch_ms);
  [[nodiscard]] std::size_t most_launches(const LoadedKernel& kernel, const Shape& shape,
                                          CheckKind check_kind, double launch_ms);
  [[nodiscard]] bool measures() const { return device_.info().time_kind == TimeKind::kMeasured; }
  [[nodiscard]] int launches_to_age(const Shape& shape) const;
  [[nodiscard]] std::optional<std::string> state_of(const LoadedKernel& kernel,
                                                    const Workspace& workspace) const;
  void check_old(Trials& trials, const LoadedKernel& kernel,
                 const std::vector<const CheckCase*>& inputs, const Workspace& workspace,
                 Trials::Kind kind, const Progress& progress);
  [[nodiscard]] std::optional<Fault> age(const LoadedKernel& kernel,
                                         const std::vector<const CheckCase*>& inputs,
                                         const Workspace& workspace, int launches,
                                         const Progress& progress);
  [[nodiscard]] static CorrectnessResult without_workspace(const CheckCase& data,
                                                           const Fault& fault);
  struct Aged {
    int launches = 0;
    std::optional<Fault> fault = {};
    // mean µs of a launch in the first and last run of a graph of 100 launches; 0 if there is none
    double first_us = 0;
    double last_us = 0;
  };
  [[nodiscard]] Aged age_by_graphs(const LoadedKernel& kernel, const CheckCase& data,
                                   const Workspace& workspace, int launches, double most_ms);

  BufferWork& work_;
  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  OutputJudge& judge_;
  ToleranceAudit tolerances_;
  CorrectnessOptions options_;
};

/// Largest number of launches after which a kernel that keeps state is checked again.
inline constexpr int kAgedLaunches = 2000;

}  // namespace evo
