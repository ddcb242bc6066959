// evo-worker: the process that compiles or touches a device on behalf of the other programs. It
// talks over its standard input and output and is not meant to be started by hand.

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "engine/compile/nvrtc.hpp"
#include "engine/compile/nvrtc_library.hpp"
#include "engine/core/error.hpp"
#include "engine/device/cuda/driver_survey.hpp"
#include "engine/device/open_device.hpp"
#include "engine/worker/profile_request.hpp"
#include "engine/worker/server.hpp"
#include "engine/worker/survey_messages.hpp"

int main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "--version" && argc == 2) {
    std::puts("evo-worker " EVO_VERSION);
    return std::fflush(stdout) == 0 ? 0 : static_cast<int>(evo::ExitCode::kBadInput);
  }
  if (role == "compile" && argc == 2) return evo::serve_compiler(evo::open_nvrtc, true);
  const bool is_spare = argc == 4 && std::string_view(argv[3]) == "--spare";
  if (role == "device" && (argc == 3 || is_spare)) {
    constexpr int kLowest = 19;
    if (is_spare) (void)nice(kLowest);  // a process that stays at its priority works as well
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
      "       evo-worker survey nvml|cuda|nvrtc\nStarted by the other programs; not meant to be "
      "run by hand.\n",
      stderr);
  return static_cast<int>(evo::ExitCode::kBadInput);
}
