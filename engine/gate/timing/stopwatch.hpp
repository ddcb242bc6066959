#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/core/rejection.hpp"
#include "engine/gate/correctness/cases.hpp"
#include "engine/gate/correctness/check_kind.hpp"
#include "engine/gate/correctness/output_judge.hpp"
#include "engine/gate/timing/stopping_rule.hpp"
#include "engine/gate/timing/time_budget.hpp"

namespace evo {

struct TimingOptions {
  // Settings for short launches; for long launches, TimeBudget plans fewer warm-ups and samples.
  StoppingOptions stopping;
  int warmups = 20;  ///< launches before the first sample
  /// a sample is a graph with as many launches as fill this time, at most about 400
  double sample_us = 200;
  std::size_t input_sets = kTimedInputSets;  ///< input sets used in rotation within a graph
  /// flushes the L2 cache before every sample, which is then a single launch
  bool cold = false;
  bool is_settled = false;  ///< the same kernel has kept the device busy until now
  bool is_busy = false;     ///< the device was busy until now, so its clocks are high
  /// time of a launch that checked the kernel, in µs; 0: unknown
  double checked_us = 0;
};

/// A kernel's timed launches on one shape, and the verification of their results.
///
/// 1. With k input sets, launch j takes input set j mod k and writes output set j mod (k + 1).
///    Before a launch, its output set therefore never holds the results for the launch's inputs. A
///    kernel that skips work because the output already holds a result, or because it has seen the
///    inputs before, leaves a wrong result. If a graph has fewer than k (k + 1) launches (a
///    period), several graphs form one sequence.
/// 2. verify() runs the same graphs again, or takes launches that were timed if launches are long,
///    and checks their results. The kernel cannot distinguish the verified launches from the timed
///    launches, except launches beside the graphs (kFreshAddresses, kernels with inout arguments).
class Stopwatch {
 public:
  /// All objects passed by reference must outlive the Stopwatch.
  struct Setup {
    BufferWork& work;
    const Problem& problem;
    CaseSet& cases;
    OutputJudge& judge;
    const TimingOptions& options;
    /// index of the shape's first check case on which only timed kernels are launched
    std::size_t fresh_case = 0;
  };

  /// The change that a verification makes before it launches.
  enum class Doubt {
    /// No change: the outputs keep the results of earlier launches. kNothing does not detect a
    /// kernel that does nothing if earlier launches left the expected results, so kPoison is
    /// needed, too.
    kNothing,
    kPoison,         ///< poisons the outputs
    kFreshInputs,    ///< puts new data at known addresses
    kFreshAddresses  ///< puts known data into new buffers
  };

  Stopwatch(const Setup& setup, const LoadedKernel& kernel, const Shape& shape);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Returns the mean time of a launch in a graph, in µs; 0 after a fault.
  double sample();

  void warm_up();

  /// True if a launch takes so long that the content of caches and earlier launches hardly change
  /// its time; always false if the L2 cache is flushed before each launch.
  [[nodiscard]] bool is_long() const { return launch_us_ >= kLongLaunchUs && !setup_.options.cold; }
  /// True if a launch takes so long that loading the kernel hardly changes its time. The launch
  /// that estimates this time then counts as a sample. If the correctness check has measured the
  /// time, no launch estimates it, and the check's time counts as the sample.
  [[nodiscard]] bool is_very_long() const { return is_long() && launch_us_ >= kVeryLongLaunchUs; }
  /// Returns the times, in µs, of the long launches that, since the last call of this function,
  /// verified results or determined the number of samples; these times count as samples, too. If a
  /// launch of the correctness check determined the number of samples, its time is included. The
  /// list is empty if launches are short.
  [[nodiscard]] std::vector<double> take_other_us();
  /// Whether the correctness check has measured the time of a very long launch; always false if the
  /// L2 cache is flushed before each launch.
  [[nodiscard]] bool was_planned_by_check() const {
    return !setup_.options.cold && setup_.options.checked_us >= kVeryLongLaunchUs;
  }

  /// How many warm-ups, samples and pairs this kernel gets.
  [[nodiscard]] const TimeBudget& budget() const { return budget_; }
  /// Approximate microseconds of one launch.
  [[nodiscard]] double launch_us() const { return launch_us_; }
  /// Approximate microseconds of one sample.
  [[nodiscard]] double sample_us() const { return sample_us_; }

  /// Verifies the results of launches in the timed graphs, for kFreshAddresses those of a launch
  /// beside the graphs. For kNothing and kPoison, checks all output sets, or one set chosen by
  /// `random` if outputs are large. For every `doubt`, verifies a kernel with an inout argument by
  /// one launch on new data. Returns a rejection if a result is wrong.
  [[nodiscard]] std::optional<Rejection> verify(Doubt doubt, Random& random);

  /// Whether an output set holds the results of a launch on the timed inputs, so that verify() can
  /// compare them with the expected outputs.
  [[nodiscard]] bool has_results() const;

  /// Checks that the first launch on new data does not take much longer than the second launch on
  /// them. A kernel that caches results gives right results, but its measured time is too short.
  /// Returns nullopt if the times agree, or if the check is not possible: the device has no memory
  /// for more data, there is a single input set, or the kernel has an inout argument.
  [[nodiscard]] std::optional<Rejection> verify_pace();

  /// Checks the guard zones and the inputs of all launches, and repairs them. Returns the
  /// violation, or nullopt.
  [[nodiscard]] std::optional<Rejection> find_forbidden_write();

  /// The first fault of a launch. After a fault, this object launches no kernel.
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
  /// The arguments and the data of a launch.
  struct Launched {
    const std::vector<KernelArgument>* arguments = nullptr;
    const CheckCase* data = nullptr;
  };
  /// Compares outputs with the expected outputs; the rejection describes the first wrong launch.
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
  /// arguments of a launch, by the index of the output set that the launch writes
  std::vector<std::vector<KernelArgument>> outputs_;
  std::vector<BufferId> own_buffers_;
  std::size_t output_bytes_ = 0;  ///< total over all output sets
  TimeBudget budget_;
  double sample_us_ = 0;
  double launch_us_ = 0;
  std::vector<double> other_us_;
  double fastest_us_ = std::numeric_limits<double>::infinity();  ///< time of the fastest launch
  double fresh_us_ = 0;  ///< time of a long launch on new data; 0: not measured
  std::vector<GraphId> graphs_;
  std::vector<GraphId> single_graphs_;  ///< graphs of one launch, made by single_launch()
  std::size_t launches_per_graph_ = 0;
  std::size_t next_graph_ = 0;
  /// for each output set: the inputs of the last launch that wrote the set
  std::vector<const CheckCase*> content_;
  std::int64_t launched_ = 0;
  std::optional<Fault> fault_;
};

/// Number of samples between two progress messages of a worker, if one sample takes `sample_us`: as
/// many as fit into half a second, but between 1 and 50.
[[nodiscard]] std::size_t samples_between_signs(double sample_us);

/// Converts a fault of a timed launch to a rejection.
[[nodiscard]] Rejection fault_in_timing(const Fault& fault);

}  // namespace evo
