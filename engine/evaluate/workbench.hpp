#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/evaluate/device_setup.hpp"
#include "engine/evaluate/evaluator.hpp"
#include "engine/evaluate/home_device.hpp"
#include "engine/evaluate/interpreted_checks.hpp"
#include "engine/evaluate/workforce.hpp"

namespace evo {

struct WorkbenchOptions {
  std::filesystem::path space_file;
  /// The timed shapes, for Problem::select_shapes(); empty: the space's.
  std::string shape = {};
  DeviceSetupOptions device = {};
  bool allow_programs = false;  ///< the problem may start programs on this machine
  double energy_s = 0;          ///< for each candidate, see Evaluator
  /// True: compiles milestones and defaults while the devices are set up, because a search requests
  /// them.
  bool compiles_opening = false;
};

/// The services that a workbench uses.
struct Services {
  std::unique_ptr<EventLoop> loop;
  RunStore& store;  ///< must outlive the workbench
  std::unique_ptr<CompileService> compilers;
  /// All of one model. Empty: only build and resources are judged.
  std::vector<std::unique_ptr<DeviceService>> devices = {};
  /// A virtual GPU that also executes the elite of a device that measures; null for none.
  std::unique_ptr<DeviceService> interpreter = {};
  EventSink on_event = {};
  /// The launcher of workers on other hosts. It ends after the gateway, which dismisses them.
  std::shared_ptr<void> launched = {};
  /// Workers of other hosts that join and leave during the run; null: no port is open.
  std::unique_ptr<WorkerGate> gate = {};
  Arrivals arrivals = {};  ///< workers that joined before the run; their device is in `devices`
  WorkforceOptions workforce = {};
};

/// Where the time of a run was spent. Device times are sums over all devices.
struct PhaseTimes {
  double compile_ms = 0;  ///< at least one compiler was running
  double starved_ms = 0;  ///< devices waited for a compiler
  double check_ms = 0;
  double time_ms = 0;
  double confirm_ms = 0;  ///< comparing pairs, or timing the control
  double engine_ms = 0;   ///< devices waited for this program

  /// The difference between two instants.
  [[nodiscard]] PhaseTimes operator-(const PhaseTimes& before) const;
};

/// The current work, and where the time was spent so far.
struct Activity {
  std::size_t compiling = 0;
  std::vector<Phase> devices = {};
  PhaseTimes times = {};
};

/// A task with the compilers and devices for its candidates, ready to use.
///
/// The coroutines of this folder run only inside wait(), which blocks its caller.
class Workbench {
 public:
  /// Throws InputError or MissingError.
  Workbench(const WorkbenchOptions& options, Services services);
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  [[nodiscard]] const TuningTask& task() const { return task_; }
  [[nodiscard]] EventLoop& loop() { return *services_.loop; }
  [[nodiscard]] const DevicePool& devices() const { return devices_; }
  /// False without a device: gates after the resource gate do not run.
  [[nodiscard]] bool has_device() const { return devices_.size() > 0; }
  [[nodiscard]] Evaluator& evaluator() { return evaluator_; }
  [[nodiscard]] InterpretedChecks& interpreted() { return interpreted_; }
  [[nodiscard]] const SessionSetup& setup() const { return setup_; }

  /// Runs `work` on the home device when it is free. If that device is lost, runs it once more on
  /// the next home device.
  Task<> at_home(std::function<Task<>(HomeDevice&)> work);
  /// Waits for a free device. The caller owns it during the lifetime of the value.
  Task<HomeDevice> device(std::size_t number);
  /// The home device, for callers that are not coroutines.
  [[nodiscard]] HomeDevice take_home() { return wait(home()); }

  /// Runs a coroutine of this folder to its end. Throws Interrupted if a stop is requested.
  template <typename T>
  T wait(Task<T> work) {
    if (workforce_) workforce_->go_on();
    return services_.loop->run(std::move(work), stop_);
  }
  /// The condition on which the present wait() and every later one stop.
  void stop_when(const Stop& stop) {
    stop_ = stop;
    services_.loop->replace_stop(stop);
  }
  [[nodiscard]] const Stop& stop() const { return stop_; }

  /// Sets the seed for the inputs of all later checks: the seed of a resumed run.
  void use_check_seed(std::uint64_t seed);

  [[nodiscard]] Activity activity() const;

 private:
  Task<HomeDevice> home();
  Task<> set_up_devices();
  [[nodiscard]] std::vector<Candidate> opening() const;

  Services services_;
  TuningTask task_;
  Compilations compilations_;
  DevicePool devices_;
  Evaluator evaluator_;
  InterpretedChecks interpreted_;
  FullChecks passed_fully_;
  SessionSetup setup_;
  std::unique_ptr<Workforce> workforce_;
  Stop stop_;
};

}  // namespace evo
