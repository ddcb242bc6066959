// virtual-launch: launches a space's milestone several times on the virtual GPU, which looks for
// defects of the kernel, such as races. Prints the seconds of the fastest launch, its instructions
// and the memory.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "engine/core/error.hpp"
#include "tools/cli/candidate_options.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/predict/space_on_device.hpp"

namespace evo {
namespace {

struct Arguments {
  std::string space;
  std::string milestone;
  std::string device = "virtual:l4";
  std::string shape;
  int repeats = 3;
};

double megabytes_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double kKilo = 1e3;
  return static_cast<double>(usage.ru_maxrss) * 1.024 / kKilo;
}

void run(const Arguments& arguments) {
  SpaceOnDevice on(arguments.space, arguments.shape, arguments.device);
  const Candidate candidate = CandidateOptions{arguments.milestone}.candidate(on.space());
  const CompileOutcome outcome = on.compile(candidate);
  if (const auto* rejection = std::get_if<Rejection>(&outcome))
    throw InputError("does not compile: " + rejection->reason);

  const double before = megabytes_resident();
  const auto loaded = on.load(candidate, std::get<Compiled>(outcome));
  if (const auto* fault = std::get_if<Fault>(&loaded)) throw InputError(fault->reason);
  const auto& kernel = std::get<LoadedKernel>(loaded);
  const auto made = on.workspace_of(kernel);
  if (const auto* fault = std::get_if<Fault>(&made)) throw DeviceMemoryError(fault->reason);
  const auto& workspace = std::get<Workspace>(made);
  const CheckCase& data = on.data();
  double best = 0;
  for (int i = 0; i < arguments.repeats; ++i) {
    if (const auto fault =
            on.device().launch(kernel.id, kernel.launch_for(data), workspace.arguments_of(data))) {
      throw InputError(fault->reason + "\n" + fault->detail);
    }
    const double seconds = on.device().statistics().seconds;
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  double buffers = 0;
  constexpr double kMega = 1e6;
  for (const Argument& argument : on.problem().arguments) {
    if (argument.direction == Direction::kScalar) continue;
    if (argument.direction == Direction::kWorkspace || argument.tensor_map) continue;
    buffers += static_cast<double>(argument.bytes(data.values)) / kMega;
  }
  std::printf(
      "%s, %s, shape %s on %s: %.3f s, %.1f M warp instructions; "
      "%.0f MB resident for %.1f MB of inputs and outputs (%.0f MB before)\n",
      on.space().definition().name.c_str(), arguments.milestone.c_str(), on.shape().name.c_str(),
      arguments.device.c_str(), best,
      static_cast<double>(on.device().statistics().warp_instructions) / kMega, megabytes_resident(),
      buffers, before);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app(
      "Measures how long the virtual GPU takes for one launch of a milestone, including the search "
      "for defects such as races: the shortest time of several launches.");
  evo::Arguments arguments;
  app.add_option("space", arguments.space, "search space file")->required();
  app.add_option("milestone", arguments.milestone, "name of the milestone in the space file")
      ->required();
  app.add_option("--device", arguments.device, "virtual:NAME")->capture_default_str();
  app.add_option("--shape", arguments.shape, "shape of the problem file (default: the space's)");
  app.add_option("--repeats", arguments.repeats, "launches")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 1000000));
  return evo::tool_main("virtual-launch", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    evo::run(arguments);
    return evo::ExitCode::kGreen;
  });
}
