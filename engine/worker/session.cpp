#include "engine/worker/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "engine/core/error.hpp"
#include "engine/problem/npy.hpp"

namespace evo {
namespace {

/// Number of kernels that stay loaded on the device: usually enough for the elite and the control
/// kernel of each shape, and for recent candidates.
constexpr std::size_t kKernelsKept = 32;

/// Time limit, in ms, of the repeated launches (ageing) of a kernel before it may enter the elite.
constexpr double kMostAgeingMs = 500;

/// The number of input sets for a kernel with very long launches, which is launched only a few
/// times.
constexpr std::size_t kInputSetsOfVeryLong = 2;

/// A device counts as busy during pauses up to this length, in which its clocks do not drop.
constexpr std::chrono::milliseconds kStillBusy(10);

std::unique_ptr<BufferWork> work_on(Device& device, const KernelImage& check_kernels) {
  return check_kernels.entries.empty() ? make_host_work(device)
                                       : make_device_work(device, check_kernels);
}

}  // namespace

Session::Session(Device& device, const SessionSetup& setup)
    : device_(device),
      problem_(Problem::parse(setup.problem_text, setup.problem_folder)),
      spec_(problem_.kernel(setup.template_name)),
      timing_(setup.timing),
      fresh_case_(std::max(setup.correctness.seeds, setup.timing.input_sets)),
      work_(work_on(device, setup.check_kernels)),
      programs_(problem_),
      cases_(*work_, problem_, programs_, load_reference(setup),
             {setup.check_seed, setup.timing.input_sets, fresh_case_}),
      judge_(*work_, problem_, cases_, programs_),
      correctness_(*work_, problem_, cases_, judge_, setup.correctness),
      gpu_(device.monitor()) {
  gpu_.look_for_others();
}

std::optional<LoadedKernel> Session::load_reference(const SessionSetup& setup) {
  if (!problem_.reference.is_launched()) return std::nullopt;
  const auto loaded = device_.load(setup.reference);
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    throw CudaError("the reference kernel of problem '" + problem_.name +
                    "' cannot be loaded: " + fault->reason);
  }
  const auto& own = problem_.reference.kernel;
  return LoadedKernel{std::get<KernelId>(loaded), own ? &*own : &spec_, setup.reference_macros};
}

std::variant<LoadedKernel, Fault> Session::loaded(const KernelUnderTest& kernel) {
  const auto known = std::find_if(kernels_.begin(), kernels_.end(),
                                  [&](const Cached& cached) { return cached.key == kernel.key; });
  if (known != kernels_.end()) {
    std::rotate(known, known + 1, kernels_.end());
    return kernels_.back().kernel;
  }
  const auto loaded = device_.load(kernel.image);
  if (const auto* fault = std::get_if<Fault>(&loaded)) return *fault;
  if (kernels_.size() >= kKernelsKept) {
    device_.unload(kernels_.front().kernel.id);
    kernels_.erase(kernels_.begin());
  }
  kernels_.push_back({kernel.key, {std::get<KernelId>(loaded), &spec_, kernel.macros}});
  return kernels_.back().kernel;
}

void Session::report_to(const Progress& progress) {
  programs_.report_to(progress);
  cases_.report_to(progress);
}

std::vector<const Shape*> Session::checked_shapes(const KernelUnderTest& kernel) const {
  std::vector<const Shape*> timed;
  for (const std::string& name : kernel.shapes) timed.push_back(&problem_.shape(name));
  return problem_.checked_shapes(timed, spec_);
}

EarlyStop Session::early_stop(const KernelUnderTest& kernel, CheckKind check_kind,
                              const std::vector<double>& limits_us) const {
  EarlyStop stop;
  if (check_kind == CheckKind::kAfterQuick || device_.measuring() == nullptr) return stop;
  stop.times = check_kind == CheckKind::kQuick ? &check_times_ : nullptr;
  stop.was_idle = Clock::now() - worked_at_ >= kStillBusy;
  for (std::size_t i = 0; i < kernel.shapes.size(); ++i) {
    stop.limit_us[kernel.shapes[i]] =
        i < limits_us.size() ? limits_us[i] : std::numeric_limits<double>::infinity();
  }
  return stop;
}

CorrectnessResult Session::check(const KernelUnderTest& kernel, CheckKind check_kind,
                                 const std::vector<double>& limits_us, const Progress& progress) {
  report_to(progress);
  progress("loading the kernel");
  const auto ready = loaded(kernel);
  if (const auto* fault = std::get_if<Fault>(&ready)) {
    CorrectnessResult refused;
    refused.reject("", *fault);
    return refused;
  }
  const auto& kernel_ready = std::get<LoadedKernel>(ready);
  const EarlyStop stop = early_stop(kernel, check_kind, limits_us);
  CorrectnessResult result =
      correctness_.check(kernel_ready, checked_shapes(kernel), check_kind, stop, progress);
  worked_at_ = Clock::now();
  for (const CheckedTime& time : result.times) checked_[{kernel.key, time.shape}] = time;
  const bool measures = device_.info().time_kind == TimeKind::kMeasured;
  if (result.rejection || check_kind != CheckKind::kAfterQuick || !measures) return result;
  Aged aged = age(kernel, kernel_ready, kMostAgeingMs, progress);
  result.rejection = std::move(aged.rejection);
  result.device_lost = aged.device_lost;
  return result;
}

Session::Aged Session::age(const KernelUnderTest& kernel, const LoadedKernel& loaded,
                           double most_ms, const Progress& progress) {
  std::int64_t& launches = launches_[kernel.key];
  if (launches >= kAgedLaunches) return {};
  CorrectnessResult after =
      correctness_.check_aged(loaded, checked_shapes(kernel),
                              static_cast<int>(kAgedLaunches - launches), most_ms, progress);
  if (after.rejection) after.rejection->reason = "after more launches: " + after.rejection->reason;
  if (after.complete) launches = kAgedLaunches;
  return {after.complete, std::move(after.rejection), after.device_lost};
}

TimingResult Session::time(const KernelUnderTest& kernel, const std::string& shape,
                           CheckKind check_kind, double early_stop_us, const Progress& progress) {
  report_to(progress);
  const auto ready = loaded(kernel);
  if (const auto* fault = std::get_if<Fault>(&ready)) {
    return {{}, Rejection{Gate::kTiming, fault->reason, fault->detail}, fault->device_lost};
  }
  TimingOptions options = timing_;
  options.stopping.early_stop_us = early_stop_us;
  options.is_busy = Clock::now() - worked_at_ < kStillBusy;
  options.is_settled = options.is_busy && kernel.key == timed_last_;
  const auto checked = checked_.find({kernel.key, shape});
  if (checked != checked_.end()) options.checked_us = checked->second.fastest_us;
  if (options.checked_us >= kVeryLongLaunchUs) very_long_.insert({kernel.key, shape});
  if (is_very_long(kernel, shape)) options.input_sets = kInputSetsOfVeryLong;
  TimingGate gate(*work_, problem_, cases_, judge_, gpu_, fresh_case_, options);
  const auto& kernel_ready = std::get<LoadedKernel>(ready);
  TimingResult result = gate.time(kernel_ready, problem_.shape(shape), progress);
  if (result.rejection || device_.info().time_kind == TimeKind::kPredicted) return result;
  timed_last_ = kernel.key;
  worked_at_ = Clock::now();
  if (result.timing) {
    CorrectnessResult again = check_if_out_of_proportion(kernel, shape, *result.timing, progress);
    if (again.rejection) {
      result.rejection = std::move(again.rejection);
      result.device_lost = again.device_lost;
      return result;
    }
    learn_time(kernel, shape, *result.timing);
  }
  // A quick check ages the kernel (launches it many times) on the last of its shapes only, after
  // the timing on this shape.
  result.aged = false;
  if (check_kind == CheckKind::kQuick && shape != kernel.shapes.back()) return result;
  const bool may_enter = result.timing && result.timing->complete;
  if (check_kind == CheckKind::kQuick && !may_enter) return result;
  Aged aged = age(kernel, kernel_ready,
                  check_kind == CheckKind::kQuick ? kQuickCheckMs : kMostAgeingMs, progress);
  worked_at_ = Clock::now();
  result.aged = aged.is_complete;
  if (aged.rejection) {
    result.rejection = std::move(aged.rejection);
    result.device_lost = aged.device_lost;
  }
  return result;
}

CorrectnessResult Session::check_if_out_of_proportion(const KernelUnderTest& kernel,
                                                      const std::string& shape,
                                                      const Timing& timing,
                                                      const Progress& progress) {
  const auto found = checked_.find({kernel.key, shape});
  if (found == checked_.end() || !timing.complete ||
      !is_out_of_proportion(found->second.fastest_us, timing.p50_us)) {
    return {};
  }
  checked_.erase(found);
  // Low clocks or another process may have slowed the first check, so the check is repeated.
  const auto anew = device_.load(kernel.image);
  if (const auto* fault = std::get_if<Fault>(&anew)) {
    CorrectnessResult refused;
    refused.reject("", *fault);
    return refused;
  }
  const KernelId id = std::get<KernelId>(anew);
  EarlyStop stop;
  stop.limit_us[shape] = std::numeric_limits<double>::infinity();
  CorrectnessResult again = correctness_.check(
      {id, &spec_, kernel.macros}, {&problem_.shape(shape)}, CheckKind::kQuick, stop, progress);
  if (!again.device_lost) device_.unload(id);
  if (again.rejection || again.times.empty()) return again;
  const double check_us = again.times.front().fastest_us;
  if (is_out_of_proportion(check_us, timing.p50_us)) {
    again.rejection = Rejection{
        Gate::kTiming, fmt::format("its launches take {:.1f} times as long when it is checked as "
                                   "when it is timed: {:.1f} and {:.1f} µs",
                                   check_us / timing.p50_us, check_us, timing.p50_us)};
  }
  return again;
}

void Session::learn_time(const KernelUnderTest& kernel, const std::string& shape,
                         const Timing& timing) {
  const auto found = checked_.find({kernel.key, shape});
  if (found == checked_.end()) return;
  const CheckedTime& checked = found->second;
  check_times_.learn({shape, checked.was_idle}, checked.fastest_us, timing.p50_us);
  checked_.erase(found);
}

EnergyResult Session::energy(const KernelUnderTest& kernel, const std::string& shape,
                             double window_s, const Progress& progress) {
  report_to(progress);
  const auto ready = loaded(kernel);
  if (const auto* fault = std::get_if<Fault>(&ready)) {
    return {.rejection = Rejection{Gate::kTiming, fault->reason, fault->detail},
            .device_lost = fault->device_lost};
  }
  const auto now_s = [] {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    return now.count();
  };
  return measure_energy({*work_, problem_, cases_, judge_, timing_, fresh_case_},
                        std::get<LoadedKernel>(ready), problem_.shape(shape), device_.monitor(),
                        {.window_s = window_s}, progress, now_s);
}

PredictedProfile Session::predicted_profile(const KernelUnderTest& kernel, const std::string& shape,
                                            const Progress& progress) {
  report_to(progress);
  progress("predicting the profile");
  const auto failed = [](const Fault& fault) {
    return PredictedProfile{.rejection = Rejection{Gate::kTiming, fault.reason, fault.detail},
                            .device_lost = fault.device_lost};
  };
  const auto ready = loaded(kernel);
  if (const auto* fault = std::get_if<Fault>(&ready)) return failed(*fault);
  const auto& kernel_ready = std::get<LoadedKernel>(ready);
  const CheckCase& data = cases_.inputs(problem_.shape(shape), fresh_case_);
  const auto made = Workspace::make(device_, problem_, kernel_ready, data);
  if (const auto* fault = std::get_if<Fault>(&made)) return failed(*fault);
  Predicting& predicting = evo::predicting(device_);
  const auto us = predicting.predict_us(kernel_ready.id, kernel_ready.launch_for(data),
                                        std::get<Workspace>(made).arguments_of(data));
  if (const auto* fault = std::get_if<Fault>(&us)) return failed(*fault);
  return {.percent = predicting.predicted_profile()};
}

LaunchOutcome Session::write_outputs(const KernelUnderTest& kernel, const std::string& shape,
                                     const std::string& folder, const Progress& progress) {
  report_to(progress);
  progress("launching the kernel once");
  const auto failed = [](const Fault& fault) {
    return LaunchOutcome{Rejection{Gate::kCorrectness, fault.reason, fault.detail},
                         fault.device_lost};
  };
  const auto ready = loaded(kernel);
  if (const auto* fault = std::get_if<Fault>(&ready)) return failed(*fault);
  const auto& kernel_ready = std::get<LoadedKernel>(ready);
  const CheckCase& data = cases_.inputs(problem_.shape(shape), 0);
  const auto made = Workspace::make(device_, problem_, kernel_ready, data);
  if (const auto* fault = std::get_if<Fault>(&made)) return failed(*fault);
  const auto arguments = std::get<Workspace>(made).arguments_of(data);
  cases_.restore_inputs(data);
  const auto each_output = [&](const auto& use) {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      if (problem_.arguments[i].is_output()) use(i, std::get<BufferId>(arguments[i]));
    }
  };
  each_output([&](std::size_t i, BufferId buffer) {
    if (problem_.arguments[i].direction == Direction::kOut) {
      device_.memory().fill(buffer, std::byte{0});
    }
  });
  if (const auto fault = device_.launch(kernel_ready.id, kernel_ready.launch_for(data), arguments))
    return failed(*fault);
  each_output([&](std::size_t i, BufferId buffer) {
    std::vector<std::byte> content(device_.memory().spec(buffer).bytes);
    device_.memory().download(buffer, content);
    const Argument& argument = problem_.arguments[i];
    write_npy(std::filesystem::path(folder) / (argument.name + ".npy"), argument.dtype, content);
  });
  cases_.restore_inputs(data);
  return {};
}

std::optional<Fault> Session::launch_profiled(const KernelUnderTest& kernel) {
  constexpr int kWarmups = 3;
  const auto ready = loaded(kernel);
  if (const auto* fault = std::get_if<Fault>(&ready)) return *fault;
  const auto& kernel_ready = std::get<LoadedKernel>(ready);
  const CheckCase& data = cases_.inputs(problem_.shape(kernel.shapes.front()), 0);
  const auto made = Workspace::make(device_, problem_, kernel_ready, data);
  if (const auto* fault = std::get_if<Fault>(&made)) return *fault;
  const LaunchPlan plan = kernel_ready.launch_for(data);
  const auto arguments = std::get<Workspace>(made).arguments_of(data);
  for (int i = 0; i < kWarmups; ++i) {
    if (auto fault = device_.launch(kernel_ready.id, plan, arguments)) return fault;
  }
  Measuring* measuring = device_.measuring();
  if (measuring != nullptr) measuring->begin_profile();
  auto fault = device_.launch(kernel_ready.id, plan, arguments);
  if (measuring != nullptr) measuring->end_profile();
  return fault;
}

PairResult Session::compare_pair(const KernelUnderTest& first, const KernelUnderTest& second,
                                 const std::string& shape, const Progress& progress) {
  report_to(progress);
  const auto a = loaded(first);
  const auto b = loaded(second);
  for (const auto* side : {&a, &b}) {
    if (const auto* fault = std::get_if<Fault>(side)) {
      PairResult failed;
      failed.rejection = Rejection{Gate::kTiming, fault->reason, fault->detail};
      failed.failed_first = side == &a;
      failed.device_lost = fault->device_lost;
      return failed;
    }
  }
  TimingOptions options = timing_;
  if (is_very_long(first, shape) && is_very_long(second, shape)) {
    options.input_sets = kInputSetsOfVeryLong;
  }
  TimingGate gate(*work_, problem_, cases_, judge_, gpu_, fresh_case_, options);
  PairResult result = gate.compare_pair(std::get<LoadedKernel>(a), std::get<LoadedKernel>(b),
                                        problem_.shape(shape), progress);
  worked_at_ = Clock::now();
  return result;
}

}  // namespace evo
