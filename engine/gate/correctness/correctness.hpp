#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/check_times.hpp"
#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/correctness/effort.hpp"
#include "engine/gate/correctness/output_judge.hpp"
#include "engine/gate/correctness/tolerance_audit.hpp"
#include "engine/gate/correctness/trials.hpp"
#include "engine/gate/correctness/workspace.hpp"

namespace evo {

/// Milliseconds of a steady clock.
[[nodiscard]] double steady_ms();

struct CorrectnessOptions {
  std::size_t seeds = 5;  ///< for each shape
  /// Shapes with more work than this get one seed and no repeat.
  double flops_for_all_seeds = 1e18;
  /// On devices that sample grids: shapes with more work than this are checked in part, by about
  /// this much work (SampledCheck).
  double flops_of_whole_grids = 1e18;
  /// On devices that predict: a screening spends about this much work on a shape, by fewer launches
  /// or a part of one.
  double flops_of_screening = 1e18;
  /// There, each thread counts as at least this much work, because elementwise kernels may launch
  /// many threads for few operations.
  double flops_of_thread = 0;
  /// Shapes are checked in ascending order of work as long as their sum does not exceed this. The
  /// first shape is always checked.
  double flops_of_all_shapes = 1e18;
  std::function<double()> now_ms = steady_ms;  ///< the measure by which a launch counts as long
};

/// The limits of a quick check. On a real device, the check of a shape with a limit ends as soon as
/// the kernel is certainly slower: after two launches, three if they are short, or one if it is
/// very long.
struct EarlyStop {
  const CheckTimes* times = nullptr;  ///< null: nothing is known, and no check ends early
  bool was_idle = false;              ///< whether the device was idle before the check
  /// In µs, by shape; only the launches of these shapes are compared with a limit.
  std::map<std::string, double> limit_us = {};
};

/// The correctness gate.
///
/// For every shape, in ascending order of work, the tolerance must be able to tell right from wrong
/// (ToleranceAudit). A shape with too much work for the device is checked by SampledCheck. For
/// every seed:
///   1. poison the outputs with a new value (poison_of_run), restore inout arguments, launch;
///   2. check that guard zones are intact, inputs unchanged, and every element of the outputs
///      written (if the device tracks writes; otherwise a second poison shows it);
///   3. check that every output is within the tolerance of the reference (OutputJudge);
/// and once for each shape, on the first seed:
///   4. run again over another poison and require the same bits (or, for a template that is not
///      deterministic, agreement within the tolerance); this also finds unwritten elements;
///   5. if two launches on the same input left the workspaces or the kernel's variables different,
///      launch until this state repeats, at most kAgedLaunches times, and check again;
/// if all seeds have left them different, do the same on all inputs in turn. At the end, the
/// expected outputs must be able to tell right from wrong (ReferenceAudit).
///
/// A screening makes fewer launches if they are long. Real devices decide by the launch time
/// (launches_allowed). Devices that predict decide by the shape's work, so that the decision is
/// reproducible. On real devices, all launches of a shape after the first two are queued together
/// (Trials).
class CorrectnessGate {
 public:
  /// All references must outlive this object.
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
                                        std::vector<const Shape*> shapes, Effort effort,
                                        const EarlyStop& stop, const Progress& progress);

  /// Makes `launches` launches on the shape of `shapes` with the least work, or as many as
  /// `most_ms` allow, followed by a checked launch. It is meant for kernels that were timed with
  /// fewer launches than in production. Only on real devices. Incomplete if it made fewer launches.
  [[nodiscard]] CorrectnessResult check_aged(const LoadedKernel& kernel,
                                             std::vector<const Shape*> shapes, int launches,
                                             double most_ms, const Progress& progress);

 private:
  /// One check of one kernel.
  struct Job {
    const LoadedKernel& kernel;
    Effort effort;
    const EarlyStop& stop;
    const Progress& progress;
    bool has_run = false;  ///< the kernel, on another shape
  };

  void sort_by_work(std::vector<const Shape*>& shapes) const;
  [[nodiscard]] CorrectnessResult check_shape(const Job& job, const Shape& shape);
  [[nodiscard]] CorrectnessResult check_whole(const Job& job, const Shape& shape,
                                              const Workspace& workspace);
  [[nodiscard]] std::optional<CorrectnessResult> check_part(const Job& job, const Shape& shape,
                                                            const Workspace& workspace);
  [[nodiscard]] double work_of(const Shape& shape) const;
  [[nodiscard]] std::size_t seeds_for(const Shape& shape, Effort effort);
  [[nodiscard]] double screening_work(const LoadedKernel& kernel, const Shape& shape);
  /// Whether the work of a launch is more than such a check may run whole.
  [[nodiscard]] bool is_too_large(const LoadedKernel& kernel, const Shape& shape, Effort effort);
  [[nodiscard]] bool can_be_sampled(const Shape& shape) const;
  [[nodiscard]] bool repeats(const LoadedKernel& kernel, const Shape& shape, Effort effort,
                             double first_launch_ms);
  [[nodiscard]] std::size_t most_launches(const LoadedKernel& kernel, const Shape& shape,
                                          Effort effort, double launch_ms);
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
    // µs of a launch in a graph of many; 0 without one
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

/// Number of launches after which a kernel with kept state is checked again.
inline constexpr int kAgedLaunches = 2000;

}  // namespace evo
