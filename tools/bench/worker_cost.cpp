// worker-cost: measures the time of one candidate's messages to and from a worker process, through
// a socket pair and through the loopback interface by TCP and TLS. The worker process is `cat`,
// which returns every message, so only the transport is measured.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/run_key.hpp"
#include "engine/worker/worker_gate.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

constexpr const char* kEcho = "/bin/cat";
constexpr std::chrono::seconds kPatience{10};

struct Arguments {
  std::size_t image_kb = 100;
  int candidates = 500;
};

/// Starts evo-worker in a child process, which connects to `address` and offers `cat` as a worker.
pid_t lend(const std::string& address, const std::string& key) {
  const pid_t process = fork();
  if (process != 0) return process;
  setenv(kKeyVariable, key.c_str(), 1);
  setenv("EVO_WORKER", kEcho, 1);
  const std::string program = own_worker();
  execl(program.c_str(), program.c_str(), "compile", "--connect", address.c_str(), nullptr);
  _exit(127);
}

void exchange(WorkerChannel& worker, const nlohmann::json& message) {
  if (!worker.send(message) || !worker.wait(kPatience)) throw MissingError("the worker is gone");
}

/// Milliseconds of the messages of each candidate (compilation, check, timing), sorted. A real
/// message carries the compiled kernel in one direction only, but `cat` returns every message, so
/// these messages carry only half of the kernel's bytes.
std::vector<double> candidate_ms(WorkerHost& host, const Arguments& arguments) {
  const auto worker = host.start({}, {});
  const nlohmann::json image = {{"op", "check"},
                                {"image", to_binary(std::string(arguments.image_kb << 9, 'x'))}};
  std::vector<double> times;
  for (int i = 0; i < arguments.candidates; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < 3; ++step) exchange(*worker, image);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

double report(const char* name, const std::vector<double>& times) {
  const double median = times[times.size() / 2];
  std::printf("%-24s %8.3f ms per candidate (median), %8.3f ms (99th percentile)\n", name, median,
              times[times.size() * 99 / 100]);
  return median;
}

ExitCode run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("worker-cost: measures the time of communication with a worker for each candidate");
  app.add_option("--image-kb", arguments.image_kb, "size of a compiled kernel in KiB")
      ->capture_default_str()
      ->transform(whole_number(0, 100000));
  app.add_option("--candidates", arguments.candidates, "number of candidates")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  if (const auto done = parse_command_line(app, argc, argv, {})) return *done;
  const std::string key = make_run_key();
  LocalHost here(kEcho);
  const double local_ms = report("socket pair", candidate_ms(here, arguments));
  WorkerGate gate(own_worker(), "127.0.0.1:0", key);
  const pid_t agent = lend(gate.address(), key);
  std::optional<WorkerGate::Notice> notice;
  while (!notice) {
    pollfd entry = gate.interest();
    ::poll(&entry, 1, 100);
    notice = gate.take();
  }
  const auto* joined = std::get_if<WorkerGate::Joined>(&*notice);
  if (joined == nullptr) throw MissingError("no worker connects");
  const double remote_ms = report("loopback, TCP and TLS", candidate_ms(*joined->host, arguments));
  std::printf("%-24s %8.3f ms per candidate\n", "difference", remote_ms - local_ms);
  kill(agent, SIGTERM);
  waitpid(agent, nullptr, 0);
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("worker-cost", [&] { return evo::run(argc, argv); });
}
