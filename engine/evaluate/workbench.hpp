#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
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
  /// Names the timed shapes, as in Problem::select_shapes(); if empty, the space file names them.
  std::string shape = {};
  DeviceSetupOptions device = {};
  bool allow_programs = false;  ///< whether the problem may start programs on this machine
  /// Duration of the energy measurement of a green candidate on each timed shape; if 0, energy is
  /// not measured.
  double energy_s = 0;
  /// Whether the milestones and the default configuration are compiled while the devices are set
  /// up. A search sets `compiles_initial_population`, because it requests the milestones and the
  /// default configuration first.
  bool compiles_initial_population = false;
};

/// The services that a workbench uses.
struct Services {
  std::unique_ptr<EventLoop> loop;
  RunStore& store;  ///< must outlive the workbench
  std::unique_ptr<CompileService> compilers;
  /// All devices are of one model. If there are no devices, only the build gate and the resource
  /// gate run.
  std::vector<std::unique_ptr<DeviceService>> devices = {};
  /// A virtual GPU that executes the kernels of the elite again after they are green on a GPU; may
  /// be null.
  std::unique_ptr<DeviceService> interpreter = {};
  EventSink on_event = {};
  /// Owns the processes that launched workers on other hosts. The launching processes must outlive
  /// the gateway, because the gateway tells the workers to end.
  std::shared_ptr<void> launched = {};
  /// Accepts workers of other hosts that join and leave during the run; null: no port is open.
  std::unique_ptr<WorkerGate> gate = {};
  Arrivals arrivals = {};  ///< workers that joined before the run; `devices` holds their device
  WorkforceOptions workforce = {};
};

/// The model of device for which a workbench with these arguments compiles: that of its devices, or
/// without a device, a GPU of the space's architecture.
[[nodiscard]] DeviceInfo device_for(const WorkbenchOptions& options, const Services& services);

/// The time that a run spent on each phase. Times of devices are sums over all devices.
struct PhaseTimes {
  double compile_ms = 0;  ///< at least one compiler was running
  double starved_ms = 0;  ///< devices waited for compilers
  double check_ms = 0;
  double time_ms = 0;
  double confirm_ms = 0;  ///< green kernels were checked, timed or compared again
  double engine_ms = 0;   ///< devices waited for the coordinator

  /// The times spent since `before`.
  [[nodiscard]] PhaseTimes operator-(const PhaseTimes& before) const;
};

/// The current work of the compilers and devices, and the time that the run has spent so far.
struct Activity {
  std::size_t compiling = 0;
  std::vector<Phase> devices = {};
  PhaseTimes times = {};
};

/// A TuningTask, with compilers and set-up devices that evaluate its candidates.
///
/// The coroutines of engine/evaluate run only inside the constructor, use_shapes(),
/// use_check_seed() and wait(), which block their caller.
class Workbench {
 public:
  /// Throws InputError if files cannot be tuned, and MissingError if a device or tool is missing.
  Workbench(const WorkbenchOptions& options, Services services);
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  /// Ends all work, and prepares for other shapes of the same space, which may be compiled with
  /// other macros. Devices, compilers and workers on other hosts stay. Objects that use task() must
  /// not outlive this call. Throws as the constructor does, and Interrupted if a stop is requested.
  void use_shapes(const std::string& shapes);

  [[nodiscard]] const TuningTask& task() const { return *task_; }
  [[nodiscard]] EventLoop& loop() { return *services_.loop; }
  [[nodiscard]] const DevicePool& devices() const { return devices_; }
  [[nodiscard]] Evaluator& evaluator() { return *evaluator_; }
  [[nodiscard]] InterpretedChecks& interpreted() { return interpreted_; }
  [[nodiscard]] const SessionSetup& setup() const { return setup_; }

  /// Waits for the home device, which makes the comparisons that decide the elite, and runs `work`
  /// on it. If the home device is lost, runs `work` again on the next home device.
  Task<> at_home(std::function<Task<>(HomeDevice&)> work);
  /// Waits for device `number`, which nobody else can use during the lifetime of the HomeDevice.
  Task<HomeDevice> device(std::size_t number);
  /// Waits for the home device (see at_home()), for callers that are not coroutines.
  [[nodiscard]] HomeDevice take_home() { return wait(home()); }

  /// Runs a coroutine of engine/evaluate to its end. Throws Interrupted if a condition of
  /// EventLoop::stop_when() holds.
  template <typename T>
  T wait(Task<T> work) {
    if (workforce_) workforce_->go_on();
    return services_.loop->run(std::move(work));
  }

  /// Sets the seed for the inputs of all later checks, to continue a run with its stored seed.
  void use_check_seed(std::uint64_t seed);

  [[nodiscard]] Activity activity() const;

 private:
  void prepare();
  Task<HomeDevice> home();
  Task<> set_up();
  Task<> set_up_device(std::size_t number);
  Task<> set_up_devices();
  [[nodiscard]] std::vector<Candidate> initial_population() const;

  WorkbenchOptions options_;
  Services services_;
  bool with_lines_;
  std::optional<TuningTask> task_;
  Compilations compilations_;
  DevicePool devices_;
  std::optional<Evaluator> evaluator_;
  InterpretedChecks interpreted_;
  FullChecks passed_fully_;
  SessionSetup setup_;
  std::unique_ptr<Workforce> workforce_;
};

/// Whether there is a device. Without a device, the gates after the resource gate do not run.
[[nodiscard]] inline bool has_device(const Workbench& bench) { return bench.devices().size() > 0; }

}  // namespace evo
