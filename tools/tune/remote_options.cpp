#include "tools/tune/remote_options.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "engine/worker/host_port.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/run_key.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/launch/launch.hpp"

namespace evo {
namespace {

/// The secret key that workers need to connect to this run: the key in the environment (if the user
/// starts workers by hand), or a new key.
std::string run_key() {
  const bool is_given = std::getenv(kKeyVariable) != nullptr ||    // NOLINT(concurrency-mt-unsafe)
                        std::getenv(kKeyFileVariable) != nullptr;  // NOLINT(concurrency-mt-unsafe)
  return is_given ? key_of_environment() : make_run_key();
}

/// The address to which other hosts connect: this host's name if evo-tune listens on every
/// interface.
std::string dialled(const std::string& listening) {
  HostPort address = parse_host_port("--listen", listening);
  if (address.host == "0.0.0.0" || address.host == "::") address.host = host_name();
  return to_string(address);
}

}  // namespace

void RemoteOptions::declare(CLI::App& app) {
  app.add_option("--workers", workers,
                 "start workers on other hosts: "
                 "slurm, 'slurm:ARGUMENTS', ssh:FILE or ray:ADDRESS (docs/cluster.md)")
      ->type_name("LAUNCHER");
  app.add_option("--launch", launch,
                 "start workers by this command, "
                 "in which evo-tune replaces {worker} by a call of evo-worker")
      ->type_name("COMMAND");
  app.add_option("--listen", listen,
                 "accept workers that connect to this address (default: "
                 "with --workers or --launch, any port of every interface; else no port is opened)")
      ->type_name("HOST:PORT");
  app.add_option("--worker-device", device, "devices that each started worker offers")
      ->type_name("DEVICE")
      ->capture_default_str();
  app.add_option("--worker-jobs", jobs,
                 "compilers on each host: a number, or all (one for each core)")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--worker-wait", patience_s,
                 "end the run as interrupted if it has no device for this time "
                 "(default: 60, but the first device is awaited without limit)")
      ->type_name("SECONDS")
      ->check(seconds_number());
}

void RemoteOptions::open(Services& services, double step_seconds, const EventSink& on_event) const {
  constexpr double kMilli = 1e3;
  constexpr double kPatience_s = 60;
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * kMilli));
  };
  const std::string key = run_key();
  services.gate =
      std::make_unique<WorkerGate>(own_worker(), listen.empty() ? "0.0.0.0:0" : listen, key);
  const EventSink tell = [on_event](const std::string& kind, const std::string& text) {
    // Prints the events that explain to the user why workers are missing.
    if (kind == "worker refused" || kind == "no device left" || kind == "gateway lost") {
      fmt::print(stderr, "evo-tune: {}: {}\n", kind, text);
    }
    on_event(kind, text);
  };
  services.workforce = {milliseconds(step_seconds), milliseconds(patience_s.value_or(kPatience_s)),
                        tell};
  const std::string address = dialled(services.gate->address());
  fmt::print(stderr, "evo-tune: workers can connect to {}\n", address);
  const LaunchRequest request{own_worker().string(), address, device, jobs};
  std::vector<LaunchCommand> commands;
  for (const std::string& text : workers) {
    for (LaunchCommand& one : worker_commands(text, request)) commands.push_back(std::move(one));
  }
  for (const std::string& text : launch) {
    for (LaunchCommand& one : own_commands(text, request)) commands.push_back(std::move(one));
  }
  services.launched = std::make_shared<Launched>(commands, key);
}

void RemoteOptions::wait_for_device(Services& services) const {
  const auto launched = std::static_pointer_cast<Launched>(services.launched);
  const SteadyTime start = services.loop->now();
  const auto why_none = [this, launched, start, &services]() -> std::string {
    const std::string ending = launched->ending();
    if (!ending.empty()) return "no worker with a device connected: " + ending;
    const std::chrono::duration<double> waited = services.loop->now() - start;
    if (!patience_s || waited.count() < *patience_s) return {};
    return fmt::format("no worker with a device connected within {} s (--worker-wait)",
                       *patience_s);
  };
  fmt::print(stderr, "evo-tune: waiting for a worker with a device\n");
  services.arrivals = services.loop->run(
      first_device(*services.loop, *services.gate, services.workforce, why_none));
  services.devices.push_back(std::move(services.arrivals.device));
}

}  // namespace evo
