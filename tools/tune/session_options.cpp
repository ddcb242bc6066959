#include "tools/tune/session_options.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/device/open_device.hpp"
#include "engine/device/virtual/timing/device_model.hpp"
#include "engine/worker/device_client.hpp"
#include "tools/cli/data_folder.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/value_lists.hpp"
#include "tools/tune/device_list.hpp"

namespace evo {
namespace {

/// The virtual GPU that runs code of this architecture; empty if there is none. Code for sm_86 runs
/// on the virtual L4 (sm_89), which has the same amount of shared memory.
std::string virtual_gpu_for(const std::string& arch) {
  static const std::map<std::string, std::string> kLike = {{"sm_80", "virtual:a100"},
                                                           {"sm_86", "virtual:l4"},
                                                           {"sm_89", "virtual:l4"},
                                                           {"sm_90", "virtual:h200"}};
  const auto id = kLike.find(arch);
  return id != kLike.end() ? id->second : std::string();
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  constexpr double kMilli = 1e3;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * kMilli));
}

/// Throws InputError unless all devices are of one model, because times of different models cannot
/// be compared.
void require_one_model(const std::vector<std::unique_ptr<DeviceService>>& devices) {
  std::string list;
  bool is_one = true;
  for (const auto& device : devices) {
    const DeviceInfo& info = device->info();
    is_one = is_one && info.name == devices.front()->info().name;
    list += (list.empty() ? "" : ", ") + info.id + " is " + info.name;
  }
  if (is_one) return;
  throw InputError("--device: " + list +
                   "; a run takes devices of one model: "
                   "start a run for each model, such as evo-tune --device " +
                   devices.front()->info().id);
}

}  // namespace

void SessionOptions::declare(CLI::App& app, bool takes_shapes) {
  app.add_option("--space", space,
                 "search space: a file, or the name of a shipped one (default: one for the device)")
      ->type_name(value_words::kSpace);
  app.add_option("--device", device,
                 std::string(kDeviceNames) +
                     ", or none (build and resources only); "
                     "several devices of one model: cuda:all, cuda:0,cuda:2, virtual:l4*4")
      ->type_name(value_words::kDevice)
      ->capture_default_str();
  app.add_option("--shape", shape,
                 takes_shapes ? "shape to time, or several: "
                                "SHAPE,SHAPE, tag:NAME or all (default: the space's)"
                              : "shape to time (default: the space's)")
      ->type_name(takes_shapes ? value_words::kShapes : value_words::kShape);
  app.add_option("--jobs", jobs, "compiler processes (default: one for each core)")
      ->transform(whole_number(1, 1024));
  app.add_option(
         "--timeout", step_seconds,
         "kill a kernel after this time without progress (default: 10; on virtual GPUs 300)")
      ->type_name("SECONDS")
      ->check(seconds_number());
  app.add_option("--compiler-gb", compiler_gb,
                 "memory limit of each compiler (default: half of the memory / --jobs, at least 1, "
                 "at most 4)")
      ->type_name("GB")
      ->transform(real_number(0.1, 1024.0));
  app.add_flag("--allow-programs", allow_programs,
               "let the problem run its reference and check programs on this machine");
  app.add_flag("--flush-l2", cold, "flush the L2 cache before every timed launch");
}

ValueLists SessionOptions::value_lists() {
  ValueLists lists = space_values();
  lists[value_words::kDevice] = device_values();
  return lists;
}

std::size_t SessionOptions::job_count() const {
  return jobs > 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

Services SessionOptions::open_services(RunStore& store, const EventSink& on_event) const {
  constexpr double kGiga = 1e9;
  CompilePoolOptions pool;
  pool.jobs = job_count();
  pool.memory_bytes = static_cast<std::uint64_t>(compiler_gb * kGiga);
  pool.on_event = on_event;
  auto loop = std::make_unique<SystemLoop>();
  auto compilers = std::make_unique<CompilePool>(*loop, worker_program(), pool);
  Services services{std::move(loop), store, std::move(compilers)};
  services.on_event = on_event;
  if (remote.wants_workers()) {
    remote.open(services, step_seconds, on_event);
    if (device == "auto") {  // "auto" means the devices of the workers
      remote.wait_for_device(services);
      return services;
    }
  }
  // Starts all devices before waiting for any device, so that they open in parallel.
  std::vector<std::unique_ptr<DeviceClient>> clients;
  for (const std::string& id : device_ids(device)) {
    clients.push_back(std::make_unique<DeviceClient>(*services.loop, worker_program(), id,
                                                     milliseconds_of(step_seconds), on_event));
  }
  for (auto& client : clients) {
    client->wait_until_open();
    services.devices.push_back(std::move(client));
  }
  require_one_model(services.devices);
  return services;
}

std::string SessionOptions::add_interpreter(Services& services, const std::string& choice,
                                            const EventSink& on_event) const {
  std::vector<std::string> known = ptx::device_ids();
  known.insert(known.begin(), {"auto", "none"});
  const bool is_other_worker =
      choice.find(':') != std::string::npos &&
      !choice.starts_with("virtual:");  // below, such a device must predict times
  if (!is_other_worker && std::ranges::count(known, choice) == 0) {
    throw InputError("--interpret: " + unknown_name("virtual GPU", choice, known));
  }
  const DeviceInfo* of = device_of(services);
  if (choice == "none" || of == nullptr || of->time_kind != TimeKind::kMeasured) return {};
  const std::string& arch = of->arch;
  const std::string id = choice == "auto" ? virtual_gpu_for(arch) : choice;
  if (id.empty()) {
    return "--interpret: there is no virtual GPU of " + arch +
           " (available: sm_80, sm_86, sm_89 and sm_90); "
           "races and stray accesses that do not change the results on this GPU are not detected";
  }
  auto interpreter = std::make_unique<DeviceClient>(
      *services.loop, worker_program(), id, milliseconds_of(0), on_event, WorkerPriority::kSpare);
  interpreter->wait_until_open();
  if (interpreter->info().time_kind != TimeKind::kPredicted) {
    throw InputError("--interpret: " + unknown_name("virtual GPU", choice, known));
  }
  services.interpreter = std::move(interpreter);
  return {};
}

WorkbenchOptions SessionOptions::bench_options(const Services& services,
                                               std::uint64_t check_seed) const {
  WorkbenchOptions options;
  const DeviceInfo* of = device_of(services);
  options.space_file = space_file(of != nullptr ? of->arch : std::string());
  options.shape = shape;
  options.device = {.check_seed = check_seed, .flush_l2 = cold};
  options.allow_programs = allow_programs;
  return options;
}

std::filesystem::path SessionOptions::space_file(const std::string& arch) const {
  if (!space.empty()) return find_space(space);
  return default_space(arch);
}

const DeviceInfo* device_of(const Services& services) {
  return services.devices.empty() ? nullptr : &services.devices.front()->info();
}

std::string honesty_line(const DeviceInfo* device) {
  if (device == nullptr) {
    return "NO DEVICE: kernels are compiled and checked against the resource policy; "
           "correctness and time are NOT judged, so there is no elite";
  }
  if (device->time_kind == TimeKind::kPredicted) {
    return "NO GPU: kernels run on " + device->id +
           ", an interpreter of their PTX; every time is PREDICTED, not measured";
  }
  return {};
}

void require_one_device(const Workbench& bench) {
  if (bench.devices().size() <= 1) return;
  throw InputError("--device: " + std::to_string(bench.devices().size()) +
                   " devices; only one is allowed here (evo-tune and evo-record accept several)");
}

void require_one_shape(const Workbench& bench) {
  if (bench.task().shape_count() == 1) return;
  throw InputError("--shape: " + std::to_string(bench.task().shape_count()) +
                   " shapes; only one is allowed here (evo-tune accepts several)");
}

std::uint64_t fresh_seed() {
  std::random_device source;
  // A seed has 53 bits, because JSON readers that use doubles would round a larger seed.
  constexpr std::uint64_t kMask = (1ULL << 53) - 1;
  return ((static_cast<std::uint64_t>(source()) << 32) | source()) & kMask;
}

}  // namespace evo
