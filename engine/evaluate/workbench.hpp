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
  /// Timed, as Problem::select_shapes() has it; empty: the space's.
  std::string shape = {};
  DeviceSetupOptions device = {};
  bool allow_programs = false;  ///< the problem may start programs on this machine
  double energy_s = 0;          ///< of each candidate, see Evaluator
  /// Milestones and defaults are compiled while the devices are set up: a search will ask for them.
  bool compiles_opening = false;
};

/// The outside world of a workbench.
struct Services {
  std::unique_ptr<EventLoop> loop;
  RunStore& store;  ///< must outlive the workbench
  std::unique_ptr<CompileService> compilers;
  /// All of one model; none: only build and resources are judged.
  std::vector<std::unique_ptr<DeviceService>> devices = {};
  /// A virtual GPU that executes the elite of a device that measures; null for none.
  std::unique_ptr<DeviceService> interpreter = {};
  EventSink on_event = {};
  /// The launcher of workers elsewhere. It ends after the gate, which dismisses them.
  std::shared_ptr<void> launched = {};
  /// Workers of other hosts come and go during the run; null: nothing listens.
  std::unique_ptr<WorkerGate> gate = {};
  Arrivals arrivals = {};  ///< before the run; the device is in `devices`
  WorkforceOptions workforce = {};
};

/// Where the time of a run went. Times of devices are sums over all of them.
struct PhaseTimes {
  double compile_ms = 0;  ///< at least one compiler was running
  double starved_ms = 0;  ///< devices waited for a compiler
  double check_ms = 0;
  double time_ms = 0;
  double confirm_ms = 0;  ///< comparing pairs, or timing the control
  double engine_ms = 0;   ///< devices waited for this program itself

  /// From another instant to this one.
  [[nodiscard]] PhaseTimes operator-(const PhaseTimes& before) const;
};

/// The work at one instant, and where the time went so far.
struct Activity {
  std::size_t compiling = 0;
  std::vector<Phase> devices = {};
  PhaseTimes times = {};
};

/// A task with the compilers and devices that evaluate its candidates, set up and ready.
///
/// The coroutines of this room run only inside wait(), which blocks its caller.
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
  /// False without a device: nothing beyond the resource gate is judged.
  [[nodiscard]] bool has_device() const { return !devices_.is_empty(); }
  [[nodiscard]] Evaluator& evaluator() { return evaluator_; }
  [[nodiscard]] InterpretedChecks& interpreted() { return interpreted_; }
  [[nodiscard]] const SessionSetup& setup() const { return setup_; }

  /// Runs `work` on the home device as soon as that is free, and once more on the next home device
  /// when it is lost.
  Task<> at_home(std::function<Task<>(HomeDevice&)> work);
  /// A device, as soon as it is free. It is the caller's as long as the value lives.
  Task<HomeDevice> device(std::size_t number);
  /// The home device, for callers that are no coroutines.
  [[nodiscard]] HomeDevice take_home() { return wait(home()); }

  /// Runs a coroutine of this room to its end. Throws Interrupted when it is to stop.
  template <typename T>
  T wait(Task<T> work) {
    if (workforce_) workforce_->go_on();
    return services_.loop->run(std::move(work), stop_);
  }
  /// When every wait() from here on is to stop.
  void stop_when(const Stop& stop) { stop_ = stop; }
  [[nodiscard]] const Stop& stop() const { return stop_; }

  /// Draws the inputs of all checks that follow from this seed: that of a run that is resumed.
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
