#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "engine/core/rejection.hpp"
#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/correctness/damage.hpp"
#include "engine/gate/correctness/output_judge.hpp"
#include "engine/gate/correctness/poison.hpp"

namespace evo {

/// The launches of one kernel on one shape, and the verdict on what they leave behind: that of the
/// first one that did wrong, as if each had been waited for.
///
/// Launches are queued, each with the looks at its buffers behind it, and waited for together; on a
/// device without a queue each is judged at once.
class Trials {
 public:
  /// References must outlive this; all cases must be complete. `now_ms`: a clock.
  Trials(BufferWork& work, const Problem& problem, CaseSet& cases, OutputJudge& judge,
         const LoadedKernel& kernel, const Workspace& workspace, std::function<double()> now_ms);
  ~Trials() = default;
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  /// How a launch counts.
  enum class Kind {
    kSeed,    ///< compared with what is expected; its figures are part of the result
    kExtra,   ///< the same without figures: another poison on data that was seen
    kRepeat,  ///< compared with the outputs that were kept, bit for bit
  };

  /// Poisons the outputs, puts inout arguments in place, launches and looks. Nothing once it is
  /// over.
  void run(const CheckCase& data, Poison poison, Kind kind);

  /// The time that one launch took.
  struct LaunchTime {
    double host_ms = 0;    ///< by the host's clock, with the wait for its end
    double device_us = 0;  ///< by the device's; 0 on one that does not measure
  };
  /// The same, waiting before and behind the launch.
  LaunchTime run_timed(const CheckCase& data, Poison poison, Kind kind);

  /// What the last launch, on `data`, left in its outputs is what repeats must leave.
  void keep_outputs(const CheckCase& data);

  /// Waits for all launches, and judges them.
  void settle();

  /// A launch was found to have done wrong: what follows does not matter.
  [[nodiscard]] bool is_over() const { return result_.rejection.has_value(); }
  /// Launches that are not judged yet.
  [[nodiscard]] std::size_t unsettled() const { return pending_.size(); }

  /// Ends with this rejection.
  void reject(const CheckCase& data, const Fault& fault);
  /// Adds this to the reason, where there is one.
  void say_more(const std::string& words);
  /// What was found. Waits; leaves guard zones and inputs as they were.
  [[nodiscard]] CorrectnessResult take();

 private:
  struct Trial {
    const CheckCase* data = nullptr;
    Kind kind = Kind::kSeed;
    std::optional<Fault> fault = {};
    std::optional<std::string> unwritten = {};
    std::optional<DamageLook> damage = {};
    OutputJudge::Looks outputs = {};
    struct Difference {
      std::size_t position = 0;
      Look look = 0;
    };
    std::vector<Difference> differences = {};
  };

  [[nodiscard]] std::optional<Fault> launch_timed(const LaunchPlan& plan,
                                                  const std::vector<KernelArgument>& arguments,
                                                  LaunchTime& time);
  [[nodiscard]] std::vector<KernelArgument> prepare(const CheckCase& data, Poison poison);
  void look(Trial trial, const std::vector<KernelArgument>& arguments);
  [[nodiscard]] bool is_known(const Trial& trial) const;
  void judge_known();
  void judge(const Trial& trial);
  [[nodiscard]] std::optional<std::string> unwritten(
      const CheckCase& data, const std::vector<KernelArgument>& arguments) const;
  void reject(const CheckCase& data, const std::string& reason);
  void tidy_up();

  BufferWork& work_;
  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  OutputJudge& judge_;
  const LoadedKernel& kernel_;
  const Workspace& workspace_;
  std::function<double()> now_ms_;
  std::deque<Trial> pending_;
  std::set<const CheckCase*> used_;
  CorrectnessResult result_;
};

}  // namespace evo
