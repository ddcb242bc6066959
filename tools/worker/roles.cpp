#include "tools/worker/roles.hpp"

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/compile/nvrtc_library.hpp"
#include "engine/core/error.hpp"
#include "engine/device/cuda/driver_survey.hpp"
#include "engine/device/open_device.hpp"
#include "engine/worker/gateway.hpp"
#include "engine/worker/profile_request.hpp"
#include "engine/worker/server.hpp"
#include "engine/worker/survey_messages.hpp"
#include "tools/worker/host_options.hpp"

namespace evo {
namespace {

/// A write to a closed connection becomes an error instead of killing the process. Uses an empty
/// signal handler instead of SIG_IGN, because child processes would inherit SIG_IGN.
void let_writes_fail() {
  struct sigaction nothing = {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &nothing, nullptr);
}

int print_version() {
  let_writes_fail();
  if (std::puts("evo-worker " EVO_VERSION) >= 0 && std::fflush(stdout) == 0) return 0;
  std::fputs("evo-worker: standard output: could not be written\n", stderr);
  return static_cast<int>(ExitCode::kBadInput);
}

int serve_lent_device(const std::string& id, bool is_spare) {
  constexpr int kLowest = 19;
  if (is_spare) (void)nice(kLowest);  // lowering the priority is optional
  // Makes malloc() keep freed memory. Checks allocate arrays of an output's size again and again,
  // and page faults cost more than the work on the arrays, especially on virtual machines.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  return serve_device([&] { return open_device(id); });
}

int serve_survey_of(const std::string& part) {
  return serve_survey([&]() -> nlohmann::json {
    if (part == "nvml") return read_nvml_facts();
    if (part == "cuda") return read_cuda_facts();
    return read_nvrtc_facts();
  });
}

int fail(const std::exception& error, ExitCode code) {
  std::fprintf(stderr, "evo-worker: %s\n", error.what());
  return static_cast<int>(code);
}

}  // namespace

std::optional<int> serve_role(std::span<char* const> arguments) {
  try {
    if (arguments.size() == 2 && std::string_view(arguments[1]) == "gateway") {
      let_writes_fail();
      return serve_gateway(EVO_VERSION);
    }
    if (const auto options = worker_host_options(arguments)) {
      let_writes_fail();
      return serve_run_elsewhere(*options);
    }
  } catch (const Error& error) {
    return fail(error, error.exit_code());
  }
  std::vector<std::string> words(arguments.begin(), arguments.end());
  const std::size_t count = words.size();
  words.resize(4);
  const std::string& role = words[1];
  if (role == "--version" && count == 2) return print_version();
  if (role == "compile" && count == 2) return serve_compiler(open_nvrtc, true);
  const bool is_spare = count == 4 && words[3] == "--spare";
  if (role == "device" && (count == 3 || is_spare)) return serve_lent_device(words[2], is_spare);
  if (role == "survey" && count == 3) return serve_survey_of(words[2]);
  if (role != "profile" || count != 4) return std::nullopt;
  try {
    return launch_profiled(words[3], [&] { return open_device(words[2]); });
  } catch (const std::exception& error) {
    return fail(error, ExitCode::kMissing);
  }
}

}  // namespace evo
