// evo-worker: the worker processes of the other programs, for example to compile kernels or to run
// kernels on a device. The other programs start evo-worker and communicate with it over standard
// input and output. With --connect, a user or a launcher starts evo-worker, and evo-worker serves a
// run on another host.

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <span>
#include <string_view>

#include "engine/compile/nvrtc.hpp"
#include "engine/compile/nvrtc_library.hpp"
#include "engine/core/error.hpp"
#include "engine/device/cuda/driver_survey.hpp"
#include "engine/device/open_device.hpp"
#include "engine/worker/gateway.hpp"
#include "engine/worker/profile_request.hpp"
#include "engine/worker/server.hpp"
#include "engine/worker/survey_messages.hpp"
#include "tools/worker_host_options.hpp"

namespace {

/// A write to a closed connection becomes an error instead of killing the process. Uses an empty
/// signal handler instead of SIG_IGN, because child processes would inherit SIG_IGN.
void let_writes_fail() {
  struct sigaction nothing = {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &nothing, nullptr);
}

/// Makes malloc() keep freed memory. Checks allocate arrays of an output's size again and again,
/// and page faults cost more than the work on the arrays, especially on virtual machines.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

/// Runs the command `gateway`, or a command with --connect, which serves a run on another host.
/// Returns nullopt for other command lines.
std::optional<int> serve_other_hosts(std::span<char* const> arguments) {
  try {
    const bool is_gateway = arguments.size() == 2 && std::string_view(arguments[1]) == "gateway";
    const auto options = is_gateway ? std::nullopt : evo::worker_host_options(arguments);
    if (!is_gateway && !options) return std::nullopt;
    let_writes_fail();
    return is_gateway ? evo::serve_gateway(EVO_VERSION) : evo::serve_run_elsewhere(*options);
  } catch (const evo::Error& error) {
    std::fprintf(stderr, "evo-worker: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = serve_other_hosts({argv, static_cast<std::size_t>(argc)})) return *code;
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "--version" && argc == 2) {
    let_writes_fail();
    if (std::puts("evo-worker " EVO_VERSION) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fputs("evo-worker: standard output: could not be written\n", stderr);
    return static_cast<int>(evo::ExitCode::kBadInput);
  }
  if (role == "compile" && argc == 2) return evo::serve_compiler(evo::open_nvrtc, true);
  const bool is_spare = argc == 4 && std::string_view(argv[3]) == "--spare";
  if (role == "device" && (argc == 3 || is_spare)) {
    constexpr int kLowest = 19;
    if (is_spare) (void)nice(kLowest);  // lowering the priority is optional
    keep_freed_memory();
    return evo::serve_device([&] { return evo::open_device(argv[2]); });
  }
  if (role == "survey" && argc == 3) {
    const std::string_view part = argv[2];
    return evo::serve_survey([&]() -> nlohmann::json {
      if (part == "nvml") return evo::read_nvml_facts();
      if (part == "cuda") return evo::read_cuda_facts();
      return evo::read_nvrtc_facts();
    });
  }
  if (role == "profile" && argc == 4) {
    try {
      return evo::launch_profiled(argv[3], [&] { return evo::open_device(argv[2]); });
    } catch (const std::exception& error) {
      std::fprintf(stderr, "evo-worker: %s\n", error.what());
      return static_cast<int>(evo::ExitCode::kMissing);
    }
  }
  std::fputs(
      "usage: evo-worker compile | evo-worker device ID [--spare] | evo-worker profile ID FILE |\n"
      "       evo-worker survey nvml|cuda|nvrtc | evo-worker gateway\n"
      "The other programs start evo-worker. "
      "To provide workers to a run on another host (docs/cluster.md):\n"
      "       evo-worker device [ID[,ID]] --connect HOST:PORT [--key-stdin]\n"
      "       evo-worker compile --connect HOST:PORT [--jobs N|all] [--key-stdin]\n"
      "       evo-worker host --connect HOST:PORT [--device ID[,ID]] [--jobs N|all] "
      "[--key-stdin]\n",
      stderr);
  return static_cast<int>(evo::ExitCode::kBadInput);
}
