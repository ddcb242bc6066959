#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/core/rejection.hpp"
#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/effort.hpp"
#include "engine/gate/correctness/output_judge.hpp"
#include "engine/gate/timing/stopping_rule.hpp"
#include "engine/gate/timing/time_budget.hpp"

namespace evo {

struct TimingOptions {
  // Settings for short launches; TimeBudget reduces them for long ones.
  StoppingOptions stopping;
  int warmups = 20;        ///< launches before the first sample
  double sample_us = 200;  ///< a sample is a graph with as many launches as fill this time
  std::size_t input_sets = kTimedInputSets;  ///< input sets used in rotation within a graph
  /// flushes the L2 cache before every launch; samples are then single launches
  bool cold = false;
  bool is_settled = false;  ///< the same kernel has just kept the device busy
  bool is_busy = false;     ///< the device has just worked, so that its clocks are up
  /// time of one launch, from the launches that checked the kernel; 0: unknown
  double checked_us = 0;
};

/// A kernel's timed launches on one shape, with the verification of their results.
///
/// 1. Launch j takes input set j mod k and writes output set j mod (k + 1). So an output never
///    already holds the result of the next launch. A kernel that skips work on a result that is
///    already there, or on inputs it has met, therefore leaves a wrong result. If a graph has fewer
///    than k (k + 1) launches, several graphs form one sequence.
/// 2. verify() runs the same graphs again without timing, and compares their results. The kernel
///    cannot distinguish these launches from the timed ones.
class Stopwatch {
 public:
  /// All references must outlive this object.
  struct Setup {
    BufferWork& work;
    const Problem& problem;
    CaseSet& cases;
    OutputJudge& judge;
    const TimingOptions& options;
    std::size_t fresh_case = 0;  ///< a case of the shape that no kernel has met
  };

  /// The change that a verification makes before it launches.
  enum class Doubt {
    /// none: the outputs keep the results of earlier launches. A graph of whole periods that does
    /// nothing would leave the expected results; for those, kPoison is needed.
    kNothing,
    kPoison,         ///< poisons the outputs
    kFreshInputs,    ///< new data at known addresses
    kFreshAddresses  ///< known data in new buffers
  };

  Stopwatch(const Setup& setup, const LoadedKernel& kernel, const Shape& shape);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Microseconds of one launch: the mean over a graph. 0 after a fault.
  double sample();

  void warm_up();

  /// True if a launch takes so long that caches and previous work make no difference.
  [[nodiscard]] bool is_long() const { return launch_us_ >= kLongLaunchUs && !setup_.options.cold; }
  /// True if a launch takes so long that loading the kernel makes no difference, so that the first
  /// launch is as good as a sample. If the check has shown the launch time, this launch is not
  /// made.
  [[nodiscard]] bool is_very_long() const { return is_long() && launch_us_ >= kVeryLongLaunchUs; }
  /// Microseconds of the long launches since the last call that were made for verification or
  /// planning; they are as good as samples. So is the check's launch that planned the measurement.
  /// Empty if launches are short.
  [[nodiscard]] std::vector<double> take_other_us();
  /// Whether the check has shown the time of a very long launch. Never if the L2 cache is flushed.
  [[nodiscard]] bool was_planned_by_check() const {
    return !setup_.options.cold && setup_.options.checked_us >= kVeryLongLaunchUs;
  }

  /// How often this kernel is to be timed.
  [[nodiscard]] const TimeBudget& budget() const { return budget_; }
  /// Approximate microseconds of one launch.
  [[nodiscard]] double launch_us() const { return launch_us_; }
  /// Approximate microseconds of one sample.
  [[nodiscard]] double sample_us() const { return sample_us_; }

  /// Verifies the results of launches that run as the timed ones do: all outputs, or, if these are
  /// large, the outputs of one launch chosen by `random`. Returns why they are wrong.
  [[nodiscard]] std::optional<Rejection> verify(Doubt doubt, Random& random);

  /// Whether some outputs hold the results of a launch on the timed inputs.
  [[nodiscard]] bool has_results() const;

  /// Checks that a launch on new data takes as long as the next launch on the same data. A kernel
  /// that caches results gives right results, but its time is wrong. Nullopt if the times agree, or
  /// if the device has no memory for more data.
  [[nodiscard]] std::optional<Rejection> verify_pace();

  /// Checks the guard zones and the inputs of all launches, and repairs them. Returns the damage,
  /// or nullopt.
  [[nodiscard]] std::optional<Rejection> find_damage();

  /// The first fault of a launch; nothing is launched after it.
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] std::int64_t launches() const { return launched_; }

 private:
  static constexpr double kLongLaunchUs = 1000;

  [[nodiscard]] bool make_output_sets();
  [[nodiscard]] std::size_t period() const { return inputs_.size() * outputs_.size(); }
  [[nodiscard]] std::vector<KernelArgument> arguments_of(std::size_t launch) const;
  [[nodiscard]] double estimate_launch_us();
  void plan(double launch_us);
  bool build(std::size_t launches_per_graph, std::size_t graphs);
  [[nodiscard]] std::optional<GraphId> single_launch(std::size_t launch);
  [[nodiscard]] double run_single(GraphId graph);
  void release_graphs();
  double run_next();
  void run_to_verify();
  void run_beside(const std::vector<KernelArgument>& arguments);
  void note_launches(std::size_t first, std::size_t count);
  void poison_outputs(Random& random);
  /// The arguments of a launch, and its data.
  struct Launched {
    const std::vector<KernelArgument>* arguments = nullptr;
    const CheckCase* data = nullptr;
  };
  /// Why the outputs of the first wrong launch differ from the expected ones.
  [[nodiscard]] std::optional<Rejection> compare(const std::vector<Launched>& launches);
  void put_inputs(const CheckCase& where, const CheckCase& content);
  [[nodiscard]] std::optional<Rejection> verify_fresh_inputs(Random& random);
  [[nodiscard]] std::optional<Rejection> verify_fresh_addresses(Random& random);
  [[nodiscard]] std::optional<Rejection> verify_inout(Random& random);
  [[nodiscard]] Rejection wrong(const CheckCase& data, const std::string& reason) const;

  Setup setup_;
  Device& device_;
  DeviceMemory& memory_;
  Measuring& measuring_;
  const LoadedKernel& kernel_;
  const Shape& shape_;
  LaunchPlan plan_;
  std::optional<Workspace> workspace_;
  bool has_inout_ = false;
  std::vector<const CheckCase*> inputs_;
  /// index of the output set that the launch writes
  std::vector<std::vector<KernelArgument>> outputs_;
  std::vector<BufferId> own_buffers_;
  std::size_t output_bytes_ = 0;  ///< total over all output sets
  TimeBudget budget_;
  double sample_us_ = 0;
  double launch_us_ = 0;
  std::vector<double> other_us_;
  double fastest_us_ = std::numeric_limits<double>::infinity();  ///< fastest of all launches
  double fresh_us_ = 0;  ///< time of a long launch on new data; 0: none yet
  std::vector<GraphId> graphs_;
  std::size_t launches_per_graph_ = 0;
  std::size_t next_graph_ = 0;
  std::vector<const CheckCase*> content_;  ///< for each output set: the inputs of its last launch
  std::int64_t launched_ = 0;
  std::optional<Fault> fault_;
};

/// Number of samples of `sample_us` between two progress messages of a worker, which are sent at
/// least every half second.
[[nodiscard]] std::size_t samples_between_signs(double sample_us);

/// Converts a fault of a timed launch.
[[nodiscard]] Rejection fault_in_timing(const Fault& fault);

}  // namespace evo
