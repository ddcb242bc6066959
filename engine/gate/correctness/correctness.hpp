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
  std::size_t seeds = 5;  ///< per shape
  double flops_for_all_seeds =
      1e18;  ///< shapes with more work than this get one seed and no repeat
  /// On devices that sample grids, about this much work stands for shapes with more (SampledCheck).
  double flops_of_whole_grids = 1e18;
  /// On devices that predict, a screening spends about this much work on a shape: fewer launches,
  /// or a part of one.
  double flops_of_screening = 1e18;
  /// Shapes are checked, least work first, while they add up to no more than this; the first one
  /// always is.
  double flops_of_all_shapes = 1e18;
  std::function<double()> now_ms = steady_ms;  ///< what long launches are told by
};

/// The limits of a quick check. On a device that measures it ends, on a shape that has one, as soon
/// as the kernel is surely slower: after two launches, or three where they are short, or one where
/// it is very long.
struct EarlyStop {
  const CheckTimes* times = nullptr;  ///< null: nothing is known, and no check ends early
  bool was_idle = false;              ///< the device, before the check
  /// In µs, by the names of the shapes whose launches are looked at.
  std::map<std::string, double> limit_us = {};
};

/// The correctness gate.
///
/// For every shape (least work first; one that is too much work for the device by SampledCheck) the
/// tolerance must be able to tell right from wrong (ToleranceAudit), and for every seed:
///   1. poison the outputs, each time with another value (poison_of_run), put inout arguments in
///      place, launch;
///   2. guard zones of every buffer intact, inputs unchanged, every element of the outputs written
///      (where the device knows; elsewhere another poison shows it);
///   3. every output within the tolerance of the reference (OutputJudge);
/// and once a shape, on the first seed:
///   4. run again over another poison: the same bits (within the tolerance when the template says
///      it is not deterministic), which also finds elements that nobody writes;
///   5. where two launches on the same input left the workspaces or the kernel's variables
///      different: launch on until that repeats, at most kAgedLaunches times, and check again;
/// where all seeds have left them different, the same on all inputs in turn.
/// At the end, what the reference expects must be able to tell right from wrong (ReferenceAudit).
///
/// A screening makes fewer launches where they are long: on devices that measure by their time
/// (launches_allowed), on those that predict by the shape's work, so that what it does is the same
/// each time. On devices that measure, the launches of a shape behind the first two are queued
/// together (Trials).
class CorrectnessGate {
 public:
  /// All references must outlive this.
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

  /// `launches` launches on the shape with the least work of `shapes`, or as many as `most_ms`
  /// allow, then one that is checked: for kernels that were timed by fewer launches than they see
  /// in production. Only on devices that measure. Not complete when there were fewer.
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
  [[nodiscard]] std::size_t seeds_for(const Shape& shape) const;
  [[nodiscard]] double whole_grids(Effort effort) const;
  [[nodiscard]] bool is_sampled(const Shape& shape, Effort effort) const;
  [[nodiscard]] bool repeats(const Shape& shape, Effort effort, double first_launch_ms) const;
  [[nodiscard]] std::size_t most_launches(const Shape& shape, Effort effort,
                                          double launch_ms) const;
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
  struct Aged {
    int launches = 0;
    std::optional<Fault> fault = {};
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

/// Launches after which a kernel that keeps something from one to the next is checked again.
inline constexpr int kAgedLaunches = 2000;

}  // namespace evo
