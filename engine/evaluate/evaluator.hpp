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

/// Options for the evaluation of one candidate.
struct EvaluateOptions {
  CheckKind check_kind = CheckKind::kFull;
  std::vector<std::size_t> shapes = {};  ///< empty: all that TuningTask::shapes_for() returns
  /// The limits for resources; if null, the space's policy applies.
  const ResourcePolicy* policy = nullptr;
  /// The candidate's priority when it waits for a device.
  Turn turn = kFirstTurn;
  /// If true, a candidate whose kernel was judged before is a duplicate, and its kernel is not run
  /// again.
  bool knows_kernels = false;
  /// Returns the time above which a kernel is timed coarsely on `shape`; called when the check
  /// begins and when the timing begins.
  std::function<double(std::size_t shape)> early_stop_us = {};
  /// Names of the NVTX ranges in which profilers show the launches (DeviceService::set_ranges).
  std::vector<std::string> ranges = {};
};

/// Runs candidates through the gates.
class Evaluator {
 public:
  /// All objects passed by reference must outlive this object. `energy_s`: duration of the energy
  /// measurement of a green candidate; if 0, energy is not measured.
  Evaluator(EventLoop& loop, const TuningTask& task, Compilations& compilations,
            DevicePool& devices, double energy_s, EventSink on_event);

  /// Runs a candidate through all gates, but does not record it. Ends at the first failed gate, or
  /// after the resource gate if there is no device.
  Task<Evaluation> evaluate(Candidate candidate, EvaluateOptions how);
  /// The first part of evaluate(): the gates that need no device.
  Task<Evaluation> build(Candidate candidate, EvaluateOptions how);
  /// Times the kernel of a green evaluation again, and replaces its times.
  Task<Evaluation> time_again(Evaluation measured, EvaluateOptions how);

  /// Starts the compilation of a candidate that is needed later.
  void prefetch(const Candidate& candidate) {
    compilations_.prefetch(task_.sources().request(candidate));
  }

  /// Marks a kernel as judged, so that later candidates with this kernel are duplicates.
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

  /// The gates that run on a device: measure_on() or time_on().
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
