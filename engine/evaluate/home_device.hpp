#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/evaluate/device_pool.hpp"
#include "engine/evaluate/tuning_task.hpp"

namespace evo {

/// The result of comparing two kernels. A kernel that failed when it was checked and timed alone is
/// no longer green.
struct ComparedPair {
  PairResult pair;  ///< `pair.rejection` is set if the comparison failed
  std::optional<Rejection> first_failed = {};
  std::optional<Rejection> second_failed = {};
};

/// Results of the full checks that kernels have passed, by kernel key.
using FullChecks = std::map<std::string, CorrectnessResult>;

/// Gives exclusive use of a device during the lifetime of this object, to run and compare green
/// kernels again. The device is the home device, which makes the comparisons that decide the elite,
/// or the device that Workbench::device() selects.
class HomeDevice {
 public:
  /// All objects passed by reference must outlive this object.
  HomeDevice(const TuningTask& task, DeviceLease lease, FullChecks& passed)
      : task_(task), lease_(std::move(lease)), passed_(passed) {}

  /// Times two kernels alternately (A B B A …). Needs a device that measures times.
  Task<PairResult> compare_pair(const KernelUnderTest& first, const KernelUnderTest& second,
                                std::size_t shape = 0);
  /// Compares like compare_pair(). If the comparison fails, checks and times each kernel alone, the
  /// suspected kernel first. If both kernels pass, repeats the comparison once.
  Task<ComparedPair> compare(const KernelUnderTest& first, const KernelUnderTest& second,
                             std::size_t shape = 0);
  /// Makes the full check of a kernel that passed a quick check. The result of a passed check is
  /// kept, because the elites of several shapes may need it.
  Task<OrFailure<CorrectnessResult>> check_fully(const KernelUnderTest& kernel);
  /// Makes a quick check, which is a shortened check, of a kernel.
  Task<OrFailure<CorrectnessResult>> check_quickly(const KernelUnderTest& kernel);
  /// Checks a green kernel and times it alone, not in turn with another kernel. Returns why the
  /// kernel is no longer green, or nullopt.
  Task<std::optional<Rejection>> judge_alone(const KernelUnderTest& kernel, std::size_t shape = 0);
  /// Times one kernel again: precisely if `closely` is true, otherwise with a few samples. Returns
  /// nullopt if the kernel failed.
  Task<std::optional<Timing>> time_again(const KernelUnderTest& kernel, bool closely,
                                         std::size_t shape = 0);
  /// Measures the energy of one launch in repeated launches during at least `window_s` seconds.
  Task<OrFailure<EnergyResult>> energy_of(const KernelUnderTest& kernel, double window_s,
                                          std::size_t shape = 0);
  /// The utilization of the GPU's units, as predicted by the time model of a virtual GPU.
  Task<OrFailure<PredictedProfile>> predicted_profile(const KernelUnderTest& kernel,
                                                      std::size_t shape = 0);
  /// See Session::write_outputs().
  Task<OrFailure<LaunchOutcome>> write_outputs(const KernelUnderTest& kernel,
                                               const std::string& folder, std::size_t shape = 0);

  /// See DeviceService::set_ranges().
  void set_ranges(std::vector<std::string> ranges) { device().set_ranges(std::move(ranges)); }
  /// See DeviceLease::give_up().
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
