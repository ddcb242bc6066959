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
  // Of short launches; a TimeBudget gives fewer to long ones.
  StoppingOptions stopping;
  int warmups = 20;        ///< launches before the first sample
  double sample_us = 200;  ///< a sample is a graph of as many launches as fill this time
  std::size_t input_sets = kTimedInputSets;  ///< rotated through inside a graph
  bool cold = false;                         ///< flush the L2 before every (then single) launch
  bool is_settled = false;                   ///< the same kernel has just kept the device busy
  double checked_us = 0;  ///< of one launch, by the launches that checked the kernel; 0: not known
};

/// A kernel's timed launches on one shape, and whether what they compute is right.
///
/// 1. Launch j takes input set j mod k and writes output set j mod (k + 1). So an output never
///    holds the result of the inputs that are about to be launched: a kernel that skips what is
///    there already, or was met before, leaves a wrong result behind. With fewer launches in a
///    graph than k (k + 1), several graphs continue each other.
/// 2. verify() runs the very graphs once more, off the clock, and compares what they leave: the
///    kernel cannot tell these launches from those that are timed.
class Stopwatch {
 public:
  /// All references must outlive this.
  struct Setup {
    BufferWork& work;
    const Problem& problem;
    CaseSet& cases;
    OutputJudge& judge;
    const TimingOptions& options;
    std::size_t fresh_case = 0;  ///< of the shape: data that no kernel has met
  };

  /// What a verification changes before it launches.
  enum class Doubt {
    kNothing,        ///< the outputs keep what earlier launches left; graphs of whole periods that
                     ///< do nothing at all leave what is expected, and need kPoison
    kPoison,         ///< the outputs are poisoned
    kFreshInputs,    ///< other data at addresses that the kernel has seen
    kFreshAddresses  ///< data that it has seen, in new buffers
  };

  Stopwatch(const Setup& setup, const LoadedKernel& kernel, const Shape& shape);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Microseconds of one launch: the mean of a graph of them. 0 after a fault.
  double sample();

  void warm_up();

  /// A launch takes so long that caches, and what ran before it, make no difference.
  [[nodiscard]] bool is_long() const { return launch_us_ >= kLongLaunchUs && !setup_.options.cold; }
  /// A launch takes so long that loading the kernel makes no difference: the first one is as good
  /// as a sample. It is not made where the check has shown how long one takes.
  [[nodiscard]] bool is_very_long() const { return is_long() && launch_us_ >= kVeryLongLaunchUs; }
  /// Microseconds of the long launches that were made since the last call beside sample(), by
  /// verifications or to plan: they are as good as samples. Empty where launches are short.
  [[nodiscard]] std::vector<double> take_other_us();
  /// Whether the check has shown it of a very long launch. Never where the L2 cache is flushed.
  [[nodiscard]] bool was_planned_by_check() const {
    return !setup_.options.cold && setup_.options.checked_us >= kVeryLongLaunchUs;
  }

  /// How often this kernel is to be timed.
  [[nodiscard]] const TimeBudget& budget() const { return budget_; }
  /// About the microseconds of one sample.
  [[nodiscard]] double sample_us() const { return sample_us_; }

  /// What launches as they are timed leave is what is expected: in all outputs, or where these are
  /// many bytes in those of one launch, chosen by `random`. Otherwise why not.
  [[nodiscard]] std::optional<Rejection> verify(Doubt doubt, Random& random);

  /// Whether a launch on data that the kernel has not met takes as long as the next one on the same
  /// data: a kernel that keeps results and finds them again is right, and its time a lie. Nothing
  /// when it does, or where the device's memory does not hold more data.
  [[nodiscard]] std::optional<Rejection> verify_pace();

  /// What all launches did to guard zones and to one set of inputs, chosen by `random`, or nothing.
  [[nodiscard]] std::optional<Rejection> find_damage(Random& random);

  /// The first fault of a launch; nothing more is launched after it.
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
  /// Arguments of a launch, and the data that it was a launch on.
  struct Launched {
    const std::vector<KernelArgument>* arguments = nullptr;
    const CheckCase* data = nullptr;
  };
  /// Why the outputs of the first launch that is wrong are not what is expected.
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
  std::vector<std::vector<KernelArgument>> outputs_;  ///< whose outputs launches write
  std::vector<BufferId> own_buffers_;
  std::size_t output_bytes_ = 0;  ///< of all output sets
  TimeBudget budget_;
  double sample_us_ = 0;
  double launch_us_ = 0;
  std::vector<double> other_us_;
  double fastest_us_ = std::numeric_limits<double>::infinity();  ///< of all launches
  double fresh_us_ = 0;  ///< of a long launch on data that it had not met; 0: none yet
  std::vector<GraphId> graphs_;
  std::size_t launches_per_graph_ = 0;
  std::size_t next_graph_ = 0;
  std::vector<const CheckCase*> content_;  ///< per output set: the inputs of its last launch
  std::int64_t launched_ = 0;
  std::optional<Fault> fault_;
};

/// Samples of `sample_us` after which a worker gives a sign of life: every half a second, or more
/// often.
[[nodiscard]] std::size_t samples_between_signs(double sample_us);

/// What a fault of a timed launch is.
[[nodiscard]] Rejection fault_in_timing(const Fault& fault);

}  // namespace evo
