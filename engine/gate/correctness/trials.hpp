#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/core/rejection.hpp"
#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/correctness/forbidden_writes.hpp"
#include "engine/gate/correctness/output_judge.hpp"
#include "engine/gate/correctness/poison.hpp"

namespace evo {

/// The launches of one kernel on one shape, and their verdict. The first wrong launch determines
/// the verdict, as if the host had waited for each launch.
///
/// Each launch and the checks of its buffers are queued, and the host waits for many launches
/// together. On a device without a queue, each launch is judged at once.
class Trials {
 public:
  /// All objects passed by reference must outlive this object; all check cases must be complete
  /// (CheckCase::complete). `now_ms`: a clock in milliseconds.
  Trials(BufferWork& work, const Problem& problem, CaseSet& cases, OutputJudge& judge,
         const LoadedKernel& kernel, const Workspace& workspace, std::function<double()> now_ms);
  ~Trials() = default;
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  /// How a launch is judged.
  enum class Kind {
    kSeed,   ///< compared with the expected outputs; its errors enter the result
    kExtra,  ///< like kSeed, but its errors do not enter the result, as its inputs are not new
    /// compared bit for bit with the outputs that keep_outputs() copied; like kExtra if the kernel
    /// is not deterministic
    kRepeat,
  };

  /// Poisons the outputs, restores inout arguments, launches and checks. Does nothing once a launch
  /// has failed.
  void run(const CheckCase& data, Poison poison, Kind kind);

  /// Like run(), for a kernel that may start while the kernel before it still runs: launches it
  /// after a kernel that writes argument `position` with a delay.
  void run_after_late_input(const CheckCase& data, Poison poison, std::size_t position);

  /// The time that one launch took.
  struct LaunchTime {
    double host_ms = 0;    ///< by the host's clock, including the wait
    double device_us = 0;  ///< by the device's clock; 0 on a device that does not measure
  };
  /// Like run(), but waits before and after the launch.
  LaunchTime run_timed(const CheckCase& data, Poison poison, Kind kind);

  /// Copies the outputs of the last launch, which used `data`; later launches of kind kRepeat must
  /// give the same bits.
  void keep_outputs(const CheckCase& data);

  /// Waits for all launches and judges them.
  void settle();

  /// Whether a launch was found wrong. Later launches do not change the verdict.
  [[nodiscard]] bool is_over() const { return result_.rejection.has_value(); }
  /// The number of launches that are not judged yet.
  [[nodiscard]] std::size_t unsettled() const { return pending_.size(); }

  /// Ends the trials with a rejection because of `fault`.
  void reject(const CheckCase& data, const Fault& fault);
  /// Appends `words` to the reason of the rejection, if there is one.
  void say_more(const std::string& words);
  /// Waits for all launches, and returns the result. After a wrong launch, restores guard zones and
  /// inputs, unless the device is lost.
  [[nodiscard]] CorrectnessResult take();

 private:
  struct Trial {
    const CheckCase* data = nullptr;
    Kind kind = Kind::kSeed;
    std::optional<Fault> fault = {};
    std::string remark = {};  ///< follows the reason if the launch is wrong
    std::optional<std::string> unwritten = {};
    std::optional<ForbiddenWriteLook> violation = {};
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
  /// The remark on a launch that read an old value; empty if it did not.
  [[nodiscard]] std::string unordered_read() const;
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
