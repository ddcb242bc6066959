// gateway-noise: connects to a run of evo-tune --listen and sends it frames that were changed at
// random, first without and then with the key of the run. The environment variable EVO_WORKER_KEY
// or EVO_WORKER_KEY_FILE gives the key.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/worker/run_key.hpp"
#include "tests/engine/worker/noise.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

ExitCode run(int argc, char** argv) {
  std::string address;
  NoiseOptions options;
  options.version = EVO_VERSION;
  options.frames = 100000;
  CLI::App app("gateway-noise: sends frames that were changed at random to a run that listens");
  app.add_option("--connect", address, "HOST:PORT of the run")->required();
  app.add_option("--frames", options.frames, "number of frames")->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the random changes")->capture_default_str();
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  (void)signal(SIGPIPE, SIG_IGN);  // the run closes connections while this program writes
  options.gateway = parse_host_port("--connect", address);
  options.key = key_of_environment();
  const NoiseCount count = send_noise(options);
  std::printf(
      "%zu changed frames: %zu sent without the key, %zu as greetings, %zu after a valid greeting; "
      "the run closed %zu connections\n",
      count.frames(), count.without_key, count.greetings, count.answers, count.closed);
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("gateway-noise", [&] { return evo::run(argc, argv); });
}
