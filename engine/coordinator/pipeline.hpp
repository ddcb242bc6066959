#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/coordinator/workers.hpp"
#include "engine/gate/resource.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// A timed shape that a candidate is judged on.
struct ShapeTask {
  std::size_t shape = 0;  ///< of PipelineSetup::timed
  /// A kernel slower than this is timed roughly.
  double give_up_us = std::numeric_limits<double>::infinity();
};

/// What was found out on one of them.
struct ShapeJudgement {
  std::size_t shape = 0;
  LaunchPlan launch;
  /// Beside the static shared memory of the build, so that together they are what the step with
  /// most has.
  int dynamic_shared_bytes = 0;
  std::optional<Timing> timing = {};
  std::optional<CardState> card = {};  ///< while it was timed
  std::optional<Energy> energy = {};   ///< where the objective asks for it
  double time_ms = 0;
};

/// All that was found out about one candidate.
struct Judgement {
  Built built;
  std::string kernel_key;  ///< equal for candidates that are one kernel; empty unless it built
  std::vector<CompiledEntry> entries = {};  ///< what the steps of a launch name
  std::vector<ShapeJudgement> shapes;       ///< as they were asked for; at least one
  std::vector<CheckResult> checks = {};
  std::optional<Rejection> rejection = {};  ///< by one shape: it is no kernel for the others
  bool screened = false;   ///< checked by fewer launches than before it may enter an elite
  bool duplicate = false;  ///< its kernel was judged before: not run again
  double check_ms = 0;
  std::optional<double> predicted_us = {};  ///< where a shortlist asks for it

  [[nodiscard]] bool is_green() const { return timing() && !rejection && !duplicate; }
  /// Forgets what a device found: that of the kernel that was judged before counts.
  void become_duplicate();
  /// On the first of its shapes.
  [[nodiscard]] const std::optional<Timing>& timing() const { return shapes.front().timing; }
  /// On that shape; null where it was not judged.
  [[nodiscard]] const ShapeJudgement* on(std::size_t shape) const;
};

/// What all candidates of a pipeline have in common. All of it must outlive the pipeline.
struct PipelineSetup {
  const Problem& problem;
  const KernelSpec& kernel;
  std::vector<const Shape*> timed;  ///< compiled with the same macros
  ResourcePolicy policy;
  DeviceInfo device;
  double energy_s = 0;  ///< window in which the energy of what is green is counted; 0: it is not
};

/// What the entries of a kernel became, in the order of KernelSpec::entries().
[[nodiscard]] std::vector<CompiledEntry> entries_of(const KernelSpec& kernel,
                                                    const CompilationRecord& compilation);

/// The image of a compiled kernel, with the symbols of the problem's constants.
[[nodiscard]] KernelImage image_of(const Problem& problem, const KernelSpec& kernel,
                                   const CompilationRecord& compilation);

/// Which __constant__ variables the kernel reads that nobody sets, and the problem does not say
/// that zeros are meant; empty for none. Such a kernel agrees with its reference on zeros.
[[nodiscard]] std::string unset_constants_text(const Problem& problem, const KernelImage& image);

/// Which parameter of the kernel is not what the problem's argument in its place is; empty for
/// none. Steps that are left out for some configurations are not looked at.
[[nodiscard]] std::string parameters_text(const Problem& problem, const KernelSpec& kernel,
                                          const KernelImage& image);

/// Takes one candidate after another through the gates: build, resource, correctness, timing. The
/// first one that it fails ends it.
class Pipeline {
 public:
  /// `workers` must outlive the pipeline; without a device it stops after the resource gate.
  Pipeline(PipelineSetup setup, Workers& workers) : setup_(std::move(setup)), workers_(workers) {}

  /// The candidate that is being compiled under `ticket`; `macros`: its configuration. It must be
  /// right, and is timed, on every one of `tasks`: build(), enter() and measure(). Throws
  /// Interrupted.
  [[nodiscard]] Judgement judge(Compilations::Ticket ticket, const Values& macros, Effort effort,
                                std::span<const ShapeTask> tasks);

  /// Takes the candidate through the gates that need no device. Throws Interrupted.
  [[nodiscard]] Judgement build(Compilations::Ticket ticket, const Values& macros,
                                std::span<const ShapeTask> tasks);
  /// From here on the kernel of what build() let through counts as judged; one that did before is a
  /// duplicate. True when it is to be measured.
  bool enter(Judgement& built);
  /// Takes it through the gates that need a device. Throws Interrupted.
  void measure(Judgement& built, const Values& macros, Effort effort,
               std::span<const ShapeTask> tasks);
  /// Times one that is green once more, in place of what its times were. Throws Interrupted.
  void time(Judgement& measured, const Values& macros, Effort effort,
            std::span<const ShapeTask> tasks);
  /// Whether the kernel was judged before.
  [[nodiscard]] bool knows(const std::string& kernel_key) const {
    return known_kernels_.contains(kernel_key);
  }

  /// Takes note of a kernel judged earlier (in a run that is resumed), so that it counts as known.
  void remember(const std::string& kernel_key) { known_kernels_.insert(kernel_key); }

  /// The kernel of a candidate as a device worker takes it, for these of the timed shapes.
  [[nodiscard]] KernelUnderTest kernel_under_test(const CompilationRecord& compilation,
                                                  const std::string& kernel_key,
                                                  const Values& macros,
                                                  std::span<const ShapeTask> tasks) const;

 private:
  [[nodiscard]] std::optional<Rejection> build_gate(Judgement& result) const;
  [[nodiscard]] std::optional<Rejection> resource_gates(Judgement& result,
                                                        const Values& macros) const;
  [[nodiscard]] std::optional<Rejection> correctness_gate(Judgement& result,
                                                          const KernelUnderTest& kernel,
                                                          Effort effort);
  [[nodiscard]] std::optional<Rejection> timing_gate(Judgement& result,
                                                     const KernelUnderTest& kernel, Effort effort,
                                                     std::span<const ShapeTask> tasks);
  /// Beside the times, where these are complete.
  [[nodiscard]] std::optional<Rejection> energy_gate(Judgement& result,
                                                     const KernelUnderTest& kernel);
  [[nodiscard]] std::vector<const Shape*> timed(std::span<const ShapeTask> tasks) const;

  PipelineSetup setup_;
  Workers& workers_;
  std::set<std::string> known_kernels_;
};

}  // namespace evo
