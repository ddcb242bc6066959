#include "engine/evaluate/workbench.hpp"

#include <utility>

#include "engine/device/arch_limits.hpp"
#include "engine/evaluate/driver_match.hpp"

namespace evo {
namespace {

/// Whether to compile with line information. A virtual GPU needs line information to name the
/// source lines of the defects that it finds, and to map machine instructions (SASS) to PTX lines
/// for predicted times.
bool needs_lines(const Services& services) {
  return !services.devices.empty() &&
         services.devices.front()->info().time_kind == TimeKind::kPredicted;
}

/// Counts unfinished tasks.
struct Countdown {
  explicit Countdown(EventLoop& loop) : changed(loop) {}
  std::size_t count = 0;
  Event changed;
};

Task<> count_down(Task<> task, std::shared_ptr<Countdown> left) {
  co_await std::move(task);
  --left->count;
  left->changed.notify();
}

}  // namespace

DeviceInfo device_for(const WorkbenchOptions& options, const Services& services) {
  if (!services.devices.empty()) return services.devices.front()->info();
  return arch_limits(read_space_file(options.space_file).arch);
}

Workbench::Workbench(const WorkbenchOptions& options, Services services)
    : options_(options),
      services_(std::move(services)),
      with_lines_(needs_lines(services_)),
      task_(std::in_place, options_.space_file, options_.shape, device_for(options_, services_),
            with_lines_),
      compilations_(*services_.loop, services_.store, *services_.compilers),
      devices_(*services_.loop, std::move(services_.devices)),
      interpreted_(*services_.loop, std::move(services_.interpreter)) {
  require_driver_for(services_.compilers->version(), task_->device());
  if (has_device(*this) && !options_.allow_programs) require_no_programs(task_->problem());
  prepare();
  if (!services_.gate || !has_device(*this)) return;
  workforce_ =
      std::make_unique<Workforce>(*services_.loop, *services_.gate, *services_.compilers, devices_,
                                  setup_, services_.workforce, std::move(services_.arrivals));
}

Workbench::~Workbench() { services_.loop->end_all(); }

void Workbench::use_shapes(const std::string& shapes) {
  services_.loop->end_all();
  const DeviceInfo device = task_->device();
  evaluator_.reset();
  task_.emplace(options_.space_file, shapes, device, with_lines_);
  prepare();
}

/// Prepares the evaluation of the candidates of the task.
void Workbench::prepare() {
  evaluator_.emplace(*services_.loop, *task_, compilations_, devices_, options_.energy_s,
                     services_.on_event);
  if (has_device(*this)) services_.loop->run(set_up());
}

Task<> Workbench::set_up() {
  DeviceSetupOptions how = options_.device;
  if (options_.compiles_initial_population) how.initial_population = initial_population();
  setup_ = co_await device_setup(*task_, compilations_, std::move(how));
  co_await set_up_devices();
}

std::vector<Candidate> Workbench::initial_population() const {
  std::vector<Candidate> candidates;
  for (const Milestone& milestone : task_->space().definition().milestones) {
    if (!task_->shapes_for(milestone.candidate).empty()) candidates.push_back(milestone.candidate);
  }
  candidates.push_back(task_->space().defaults());
  return candidates;
}

/// Sets up a device. If workers on other hosts may join, a worker that is gone is no error.
Task<> Workbench::set_up_device(std::size_t number) {
  try {
    co_await devices_.service(number).set_up(setup_);
  } catch (const Error& error) {
    if (!workforce_ || error.exit_code() != ExitCode::kMissing) throw;
    devices_.leave(number);
    if (services_.on_event) services_.on_event("device lost", error.what());
  }
}

/// Sets up all devices in parallel.
Task<> Workbench::set_up_devices() {
  const auto left = std::make_shared<Countdown>(*services_.loop);
  const auto begin = [&](Task<> task) {
    ++left->count;
    services_.loop->spawn(count_down(std::move(task), left));
  };
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!devices_.is_lost(i)) begin(set_up_device(i));
  }
  if (interpreted_.has_interpreter()) begin(interpreted_.set_up(interpreter_setup(setup_)));
  while (left->count > 0) co_await left->changed.wait();
  const std::string too_much =
      interpreted_.has_interpreter() ? too_much_to_interpret(*task_) : std::string();
  if (!too_much.empty()) interpreted_.leave_out(too_much);
}

void Workbench::use_check_seed(std::uint64_t seed) {
  if (!has_device(*this)) return;
  options_.device.check_seed = setup_.check_seed = seed;
  services_.loop->run(set_up_devices());
}

Task<HomeDevice> Workbench::home() {
  DeviceLease lease = co_await devices_.at_home(kFirstTurn);
  co_return HomeDevice(*task_, std::move(lease), passed_fully_);
}

Task<> Workbench::at_home(std::function<Task<>(HomeDevice&)> work) {
  while (true) {
    HomeDevice device = co_await home();
    try {
      co_await work(device);
      co_return;
    } catch (const Error& error) {
      if (error.exit_code() != ExitCode::kMissing) throw;
      device.give_up();
      if (services_.on_event) services_.on_event("device lost", error.what());
    }
  }
}

Task<HomeDevice> Workbench::device(std::size_t number) {
  DeviceLease lease = co_await devices_.one(number, kFirstTurn);
  co_return HomeDevice(*task_, std::move(lease), passed_fully_);
}

Activity Workbench::activity() const {
  const DeviceTimes& of = devices_.times();
  const double starved_ms = of.starved_ms();
  const PhaseTimes times{.compile_ms = compilations_.busy_ms(),
                         .starved_ms = starved_ms,
                         .check_ms = of.spent_ms(Phase::kChecking),
                         .time_ms = of.spent_ms(Phase::kTiming),
                         .confirm_ms = of.spent_ms(Phase::kConfirming),
                         .engine_ms = of.spent_ms(Phase::kIdle) - starved_ms};
  return {compilations_.in_flight(), of.phases(), times};
}

PhaseTimes PhaseTimes::operator-(const PhaseTimes& before) const {
  return {.compile_ms = compile_ms - before.compile_ms,
          .starved_ms = starved_ms - before.starved_ms,
          .check_ms = check_ms - before.check_ms,
          .time_ms = time_ms - before.time_ms,
          .confirm_ms = confirm_ms - before.confirm_ms,
          .engine_ms = engine_ms - before.engine_ms};
}

}  // namespace evo
