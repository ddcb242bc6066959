#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/coordinator/forecasts.hpp"
#include "engine/coordinator/interpreted_checks.hpp"
#include "engine/coordinator/pipeline.hpp"
#include "engine/coordinator/validity.hpp"
#include "engine/space/space.hpp"

namespace evo {

struct HarnessOptions {
  std::filesystem::path space_file;
  /// Timed, as Problem::select_shapes() has it; empty: the space's.
  std::string shape = {};
  std::uint64_t check_seed = 0;  ///< of the inputs; draw it fresh for every run
  bool cold = false;             ///< time with a flushed L2
  bool allow_programs = false;   ///< the problem may start programs on this machine
  double energy_s = 0;           ///< of each candidate, see PipelineSetup
  /// Milestones and defaults are compiled while the device is set up: a search will ask for them.
  bool compiles_opening = false;
};

/// What a harness works with.
struct Services {
  RunStore& store;  ///< must outlive the harness
  std::unique_ptr<CompileService> compilers;
  std::unique_ptr<DeviceService> device;  ///< null judges build and resources only
  std::unique_ptr<Clock> clock = std::make_unique<SystemClock>();
  /// Virtual GPUs of the device's kind, for predicted times beside measured ones; may be empty.
  std::vector<std::unique_ptr<DeviceService>> predictors = {};
  /// A virtual GPU that executes the elite of a device that measures; null for none.
  std::unique_ptr<DeviceService> interpreter = {};
};

/// What came of a pair. A kernel that failed is no longer green.
struct Duel {
  PairResult pair;  ///< its rejection is set when the pair failed
  std::optional<Rejection> first_failed = {};
  std::optional<Rejection> second_failed = {};
};

/// Everything needed to judge candidates of one space on one device: the space, its problem, the
/// worker processes and the pipeline, ready to use.
class Harness {
 public:
  /// Throws InputError or MissingError.
  Harness(const HarnessOptions& options, Services services);
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  /// The shapes that are timed; all methods below take their numbers.
  [[nodiscard]] std::size_t shape_count() const { return places_.size(); }
  [[nodiscard]] const Shape& shape(std::size_t at = 0) const { return *places_.at(at).shape; }
  /// The space with the names of that shape in its constraints. Candidates and their keys are the
  /// same in all of them; which ones are valid need not be.
  [[nodiscard]] const Space& space(std::size_t at = 0) const { return *places_.at(at).space; }
  /// Whether the space allows the candidate on that shape.
  [[nodiscard]] bool allows(const Candidate& candidate, std::size_t at) const;
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const KernelSpec& kernel() const { return kernel_; }
  [[nodiscard]] const DeviceInfo& device() const { return device_info_; }
  /// What kernels are compiled for: the device's architecture or its own variant, "sm_90a".
  [[nodiscard]] const std::string& arch() const { return arch_; }
  /// How candidates are timed.
  [[nodiscard]] const TimingOptions& timing() const { return setup_.timing; }
  /// False without a device: nothing beyond the resource gate is judged.
  [[nodiscard]] bool has_device() const { return services_.device != nullptr; }
  [[nodiscard]] Clock& clock() { return *services_.clock; }
  /// Where the time of waiting for workers went so far.
  [[nodiscard]] const PhaseTimes& times() const { return workers_.times(); }
  /// As Workers::meanwhile().
  void meanwhile(std::function<void()> work) { workers_.meanwhile(std::move(work)); }
  /// As Workers::when_waiting().
  void when_waiting(std::function<void(const Activity&)> watch) {
    workers_.when_waiting(std::move(watch));
  }
  /// Of all work from here on.
  void stop_when(const Stop& stop) { workers_.stop_when(stop); }
  [[nodiscard]] const Stop& stop() const { return workers_.stop(); }

  /// What is allowed and probably not meant, a line each.
  [[nodiscard]] std::vector<std::string> warnings() const;

  /// Content key of the problem with every source it names, and of the space.
  [[nodiscard]] std::string problem_key() const;

  /// Begins to compile a candidate, unless the database knows it.
  [[nodiscard]] Compilations::Ticket start(const Candidate& candidate);
  /// Takes a candidate that was started through the gates, as Pipeline::judge(), on every shape
  /// where the space allows it; its check is a screening. `give_up_us`: one for each shape.
  [[nodiscard]] Judgement judge(const Candidate& candidate, Compilations::Ticket ticket,
                                const std::vector<double>& give_up_us);
  // The parts of judge(), for whoever measures candidates out of their order.

  /// What compilers have finished is noted; until one may have.
  void collect_compiled() { workers_.collect(); }
  void wait_for_compilers() { workers_.wait_for_compilers(); }
  [[nodiscard]] bool is_compiled(Compilations::Ticket ticket) const {
    return workers_.is_compiled(ticket);
  }
  /// Through the gates that need no device.
  [[nodiscard]] Judgement build(const Candidate& candidate, Compilations::Ticket ticket) {
    return pipeline_.build(ticket, space().values(candidate), tasks_for(candidate));
  }
  /// As Pipeline::enter() and knows().
  bool enter(Judgement& built) { return pipeline_.enter(built); }
  [[nodiscard]] bool knows(const std::string& kernel_key) const {
    return pipeline_.knows(kernel_key);
  }
  /// Through those that need one, by a screening.
  void measure(const Candidate& candidate, Judgement& built, const std::vector<double>& give_up_us);
  /// The times of one that is measured and green, once more.
  void time_anew(const Candidate& candidate, Judgement& measured,
                 const std::vector<double>& give_up_us);

  /// As start(); its time on the first shape is predicted as soon as it is compiled. Needs
  /// predictors.
  [[nodiscard]] Compilations::Ticket start_predicted(const Candidate& candidate);
  /// A candidate that was started so, through the gates that need no device, and its predicted
  /// time. Neither makes its kernel known.
  [[nodiscard]] Judgement predict(const Candidate& candidate, Compilations::Ticket ticket);
  /// The predicted time of one that was started so and judged; nothing where there is none.
  [[nodiscard]] std::optional<double> forecast(Compilations::Ticket ticket) {
    return workers_.wait_until([&] { return forecasts_.take(ticket); });
  }
  [[nodiscard]] bool has_predictors() const { return forecasts_.has_predictors(); }
  /// A candidate from its start to the end on the first shape, with a full check.
  [[nodiscard]] Judgement judge(const Candidate& candidate);
  /// The same on one shape and without the space's policy: what it costs. Kernels known already are
  /// judged again. Fewer when interrupted: the first ones.
  [[nodiscard]] std::vector<Judgement> judge_beyond_policy(const std::vector<Candidate>& candidates,
                                                           std::size_t at);
  /// Draws the inputs of all checks that follow from this seed: that of a run that is resumed.
  void use_check_seed(std::uint64_t seed);
  void remember(const std::string& kernel_key) { pipeline_.remember(kernel_key); }

  /// The kernel of a candidate from its stored compilation, for all shapes that allow it.
  [[nodiscard]] KernelUnderTest kernel_of(const Candidate& candidate,
                                          const CompilationRecord& compilation,
                                          const std::string& kernel_key) const;

  /// Two kernels timed in turn. Needs a device that measures.
  [[nodiscard]] PairResult compare_pair(const KernelUnderTest& first, const KernelUnderTest& second,
                                        std::size_t at = 0);
  /// The same; when the pair fails, each kernel is checked and timed alone, the one that looked
  /// guilty first, before it is blamed. Both alone without fault: the pair is tried once more.
  [[nodiscard]] Duel duel(const KernelUnderTest& first, const KernelUnderTest& second,
                          std::size_t at = 0);
  /// All checks of a kernel that was screened; once, whichever shapes' elites it may enter.
  [[nodiscard]] OrFailure<CorrectnessResult> check_fully(const KernelUnderTest& kernel);
  /// A kernel checked as a candidate is screened.
  [[nodiscard]] OrFailure<CorrectnessResult> screen(const KernelUnderTest& kernel);
  /// A kernel that was green, checked and timed once more with nothing beside it: why it is green
  /// no longer, or nothing.
  [[nodiscard]] std::optional<Rejection> judge_alone(const KernelUnderTest& kernel,
                                                     std::size_t at = 0);
  /// One kernel timed again, closely or by a few samples. Nothing when it failed.
  [[nodiscard]] std::optional<Timing> time_again(const KernelUnderTest& kernel, bool closely,
                                                 std::size_t at = 0);

  /// Of the checks of a kernel those that a run over this shape alone would have made.
  [[nodiscard]] std::vector<CheckResult> checks_on(const std::vector<CheckResult>& checks,
                                                   std::size_t at) const;

  /// What one launch takes from the card's supply, over a window of at least so many seconds.
  [[nodiscard]] OrFailure<EnergyResult> energy_of(const KernelUnderTest& kernel, double window_s,
                                                  std::size_t at = 0);

  /// How busy the time model says the units are. Needs a device that predicts.
  [[nodiscard]] OrFailure<PredictedProfile> predicted_profile(const KernelUnderTest& kernel,
                                                              std::size_t at = 0) {
    return workers_.profile(kernel, shape(at).name);
  }
  /// Whether kernels that are green on the device are executed on a virtual GPU as well.
  [[nodiscard]] bool has_interpreter() const { return interpreted_.has_interpreter(); }
  /// The name that selects that virtual GPU, "virtual:h200".
  [[nodiscard]] const std::string& interpreter_id() const { return interpreted_.device_id(); }
  /// Interprets these kernels in the background, the first one first, in place of those that were
  /// given before and have not begun.
  void interpret_soon(std::vector<KernelUnderTest> kernels) {
    interpreted_.want(std::move(kernels));
  }
  /// Waits for the check of one kernel on the virtual GPU. Throws Interrupted.
  [[nodiscard]] InterpretedCheck interpret(const KernelUnderTest& kernel);
  /// What device workers are told.
  [[nodiscard]] const SessionSetup& session_setup() const { return setup_; }
  /// As DeviceService::set_ranges(); nothing without a device.
  void set_ranges(std::vector<std::string> ranges) {
    if (has_device()) services_.device->set_ranges(std::move(ranges));
  }

  /// How to launch the candidate's kernel on a timed shape.
  [[nodiscard]] std::string manifest(const Candidate& candidate, std::size_t at = 0) const;

 private:
  /// A timed shape, and what depends on it.
  struct Place {
    const Shape* shape = nullptr;
    std::unique_ptr<Space> space = {};
    std::vector<ShapeCondition> valid_shapes = {};  ///< of every kernel, whatever its configuration
  };

  [[nodiscard]] std::vector<Place> places_of(const std::string& shapes) const;
  void require_one_build() const;
  [[nodiscard]] std::vector<ShapeTask> tasks_for(const Candidate& candidate) const;
  [[nodiscard]] CompileRequest request_for(const KernelSpec& spec, const KernelSource& source,
                                           const std::vector<std::string>& defines) const;
  [[nodiscard]] PipelineSetup pipeline_setup(const ResourcePolicy& policy) const;
  struct BuiltReference {
    KernelImage image;
    Values macros;  ///< of the configuration, where it is one of the template's own
  };
  /// What is being compiled of it.
  struct StartedReference {
    const KernelSpec& spec;
    Values macros;
    Compilations::Ticket ticket;
  };
  [[nodiscard]] StartedReference start_reference();
  [[nodiscard]] BuiltReference wait_for(StartedReference started);
  [[nodiscard]] Candidate reference_candidate() const;
  [[nodiscard]] std::vector<std::string> options_for(const Candidate& candidate) const;
  [[nodiscard]] Compilations::Ticket start_check_kernels();
  [[nodiscard]] KernelImage wait_for_check_kernels(Compilations::Ticket ticket);
  void start_opening();
  void set_up_device(const HarnessOptions& options);
  void set_up_predictors();
  void set_up_interpreter();
  [[nodiscard]] std::string too_much_to_interpret() const;
  void ask_forecasts();
  [[nodiscard]] KernelSource load(const KernelSpec& spec,
                                  const std::vector<std::string>& options) const;

  Services services_;
  double energy_s_;
  SpaceDefinition definition_;  ///< as read
  std::filesystem::path templates_root_;
  Problem problem_;
  const KernelSpec& kernel_;
  DeviceInfo device_info_;
  std::vector<Place> places_;
  std::vector<std::string> options_;  ///< of the space, normalised
  KernelSource source_;
  bool has_own_includes_ = false;
  /// Compile with -lineinfo: a virtual device names source lines of hazards, and predicts times
  /// from the lines of the PTX that machine code was made from.
  bool line_info_;
  SessionSetup setup_;
  std::string arch_;
  Compilations compilations_;
  Forecasts forecasts_;
  InterpretedChecks interpreted_;
  Workers workers_;
  Pipeline pipeline_;
  std::vector<std::pair<Candidate, Compilations::Ticket>> opening_;  ///< not asked for yet
  std::map<std::string, CorrectnessResult> passed_fully_;            ///< by key
  std::map<Compilations::Ticket, Candidate> to_predict_;             ///< once they are compiled
};

}  // namespace evo
