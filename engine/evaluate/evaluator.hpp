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
  std::vector<std::size_t> shapes = {};  ///< empty: all that the space allows it on
  /// Null: the space's.
  const ResourcePolicy* policy = nullptr;
  /// The candidate's place where devices are short.
  Turn turn = kFirstTurn;
  /// A kernel that was judged before is a duplicate, and is not run again.
  bool knows_kernels = false;
  /// The time of a shape above which a kernel is timed coarsely; asked when timing begins.
  std::function<double(std::size_t shape)> early_stop_us = {};
  /// Ranges that profilers show (DeviceService::set_ranges).
  std::vector<std::string> ranges = {};
};

/// Takes candidates through the gates.
class Evaluator {
 public:
  /// All references must outlive this. `energy_s`: the window in which the energy of a green
  /// candidate is counted; 0: it is not.
  Evaluator(EventLoop& loop, const TuningTask& task, Compilations& compilations,
            DevicePool& devices, double energy_s, EventSink on_event);

  /// The life of a candidate, up to its record. Ends at the first gate that it fails. Without a
  /// device it ends after the resource gate.
  Task<Evaluation> evaluate(Candidate candidate, EvaluateOptions how);
  /// The first part of it: the gates that need no device.
  Task<Evaluation> build(Candidate candidate, EvaluateOptions how);
  /// The times of a green evaluation once more, in place of those that it has.
  Task<Evaluation> time_again(Evaluation measured, EvaluateOptions how);

  /// Begins to compile a candidate that is asked for later.
  void prefetch(const Candidate& candidate) {
    compilations_.prefetch(task_.request_for(candidate));
  }

  /// From here on this kernel counts as judged.
  void remember(const std::string& kernel_key);
  [[nodiscard]] bool knows(const std::string& kernel_key) const {
    return known_.contains(kernel_key);
  }

 private:
  /// A kernel that a device measures, or has measured, for a candidate that is not recorded yet.
  struct Measured {
    explicit Measured(EventLoop& loop) : done(loop) {}
    Event done;
    std::optional<Evaluation> evaluation = {};
  };

  /// The gates that run on a device, as measure_on() and time_on() have them.
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
