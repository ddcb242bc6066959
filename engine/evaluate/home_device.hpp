#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/evaluate/device_pool.hpp"
#include "engine/evaluate/tuning_task.hpp"

namespace evo {

/// The outcome of comparing two kernels. A kernel that failed is no longer green.
struct ComparedPair {
  PairResult pair;  ///< its rejection is set when the pair failed
  std::optional<Rejection> first_failed = {};
  std::optional<Rejection> second_failed = {};
};

/// Full checks that kernels have passed, by kernel key.
using FullChecks = std::map<std::string, CorrectnessResult>;

/// The home device, for as long as this lives: green kernels are run again and compared there.
class HomeDevice {
 public:
  /// All references must outlive this.
  HomeDevice(const TuningTask& task, DeviceLease lease, FullChecks& passed)
      : task_(task), lease_(std::move(lease)), passed_(passed) {}

  /// Two kernels timed in turn. Needs a device that measures.
  Task<PairResult> compare_pair(const KernelUnderTest& first, const KernelUnderTest& second,
                                std::size_t shape = 0);
  /// The same; when the pair fails, each kernel is checked and timed alone, the one that looked
  /// guilty first, before it is blamed. When both pass alone, the pair is tried once more.
  Task<ComparedPair> compare(const KernelUnderTest& first, const KernelUnderTest& second,
                             std::size_t shape = 0);
  /// The full check of a kernel that had the quick one; once, whichever elites it may enter.
  Task<OrFailure<CorrectnessResult>> check_fully(const KernelUnderTest& kernel);
  /// The quick check.
  Task<OrFailure<CorrectnessResult>> check_quickly(const KernelUnderTest& kernel);
  /// A kernel that was green, checked and timed once more with nothing beside it: why it is green
  /// no longer, or nothing.
  Task<std::optional<Rejection>> judge_alone(const KernelUnderTest& kernel, std::size_t shape = 0);
  /// One kernel timed again, closely or by a few samples. Nothing when it failed.
  Task<std::optional<Timing>> time_again(const KernelUnderTest& kernel, bool closely,
                                         std::size_t shape = 0);
  /// The energy that one launch takes, over a window of at least so many seconds.
  Task<OrFailure<EnergyResult>> energy_of(const KernelUnderTest& kernel, double window_s,
                                          std::size_t shape = 0);
  /// How busy the time model says the units are. Needs a device that predicts.
  Task<OrFailure<PredictedProfile>> predicted_profile(const KernelUnderTest& kernel,
                                                      std::size_t shape = 0);
  /// As Session::write_outputs().
  Task<OrFailure<LaunchOutcome>> write_outputs(const KernelUnderTest& kernel,
                                               const std::string& folder, std::size_t shape = 0);

  /// As DeviceService::set_ranges().
  void set_ranges(std::vector<std::string> ranges) { device().set_ranges(std::move(ranges)); }
  /// As DeviceLease::give_up().
  void give_up() const { lease_.give_up(); }

 private:
  [[nodiscard]] DeviceService& device() const { return lease_.at(Phase::kConfirming); }
  [[nodiscard]] const std::string& name_of(std::size_t shape) const {
    return task_.shape(shape).name;
  }

  const TuningTask& task_;
  DeviceLease lease_;
  FullChecks& passed_;
};

}  // namespace evo
