#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/evaluate/compilations.hpp"
#include "engine/evaluate/device_pool.hpp"
#include "engine/evaluate/static_gates.hpp"

namespace evo {

/// How a candidate is evaluated.
struct EvaluateOptions {
  Effort effort = Effort::kFull;
  std::vector<std::size_t> shapes = {};  ///< empty: all shapes for which the space allows it
  /// Null: the space's policy.
  const ResourcePolicy* policy = nullptr;
  /// The candidate's priority in waiting for a device.
  Turn turn = kFirstTurn;
  /// True: a kernel that was judged before is a duplicate and is not run again.
  bool knows_kernels = false;
  /// The time on a shape above which a kernel is timed coarsely; called when timing begins.
  std::function<double(std::size_t shape)> early_stop_us = {};
  /// Ranges for profilers (DeviceService::set_ranges).
  std::vector<std::string> ranges = {};
};

/// Runs candidates through the gates.
class Evaluator {
 public:
  /// All references must outlive this object. `energy_s`: length of the energy measurement of a
  /// green candidate; 0: none.
  Evaluator(EventLoop& loop, const TuningTask& task, Compilations& compilations,
            DevicePool& devices, double energy_s, EventSink on_event);

  /// Evaluates a candidate completely, except for its record. Ends at the first failed gate, or
  /// after the resource gate if there is no device.
  Task<Evaluation> evaluate(Candidate candidate, EvaluateOptions how);
  /// The first part: the gates that need no device.
  Task<Evaluation> build(Candidate candidate, EvaluateOptions how);
  /// Measures the times of a green evaluation again and replaces the old ones.
  Task<Evaluation> time_again(Evaluation measured, EvaluateOptions how);

  /// Starts compiling a candidate that is needed later.
  void prefetch(const Candidate& candidate) {
    compilations_.prefetch(task_.request_for(candidate));
  }

  /// From now on this kernel counts as judged.
  void remember(const std::string& kernel_key);
  [[nodiscard]] bool knows(const std::string& kernel_key) const {
    return known_.contains(kernel_key);
  }

 private:
  /// A kernel that a device is measuring or has measured, for a candidate that is not recorded yet.
  struct Measured {
    explicit Measured(EventLoop& loop) : done(loop) {}
    Event done;
    std::optional<Evaluation> evaluation = {};
  };

  /// The gates that run on a device, as in measure_on() and time_on().
  using OnDevice = Task<> (Evaluator::*)(const DeviceLease&, const KernelUnderTest&,
                                         const EvaluateOptions&, Evaluation&);

  Task<Evaluation> on_a_device(OnDevice gates, Evaluation built, const EvaluateOptions& how);
  Task<> measure_on(const DeviceLease& lease, const KernelUnderTest& kernel,
                    const EvaluateOptions& how, Evaluation& result);
  Task<> time_on(const DeviceLease& lease, const KernelUnderTest& kernel,
                 const EvaluateOptions& how, Evaluation& result);
  Task<Evaluation> measure_once(Evaluation built, const EvaluateOptions& how);
  Task<std::optional<Rejection>> correctness_gate(const DeviceLease& lease,
                                                  const KernelUnderTest& kernel,
                                                  const EvaluateOptions& how, Evaluation& result);
  Task<std::optional<Rejection>> timing_gate(const DeviceLease& lease,
                                             const KernelUnderTest& kernel,
                                             const EvaluateOptions& how, Evaluation& result);
  Task<std::optional<Rejection>> energy_gate(const DeviceLease& lease,
                                             const KernelUnderTest& kernel, Evaluation& result);

  EventLoop& loop_;
  const TuningTask& task_;
  Compilations& compilations_;
  DevicePool& devices_;
  double energy_s_;
  EventSink on_event_;
  std::set<std::string> known_;
  std::map<std::string, std::shared_ptr<Measured>> measured_;  ///< by kernel key
};

}  // namespace evo
