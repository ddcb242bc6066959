// virtual-launch: one whole launch of a milestone of a search space on the virtual GPU, all checks
// on: seconds, instructions, memory.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/gate/workspace.hpp"
#include "engine/space/space.hpp"
#include "tools/number_options.hpp"
#include "tools/tool_main.hpp"

namespace evo {
namespace {

struct Arguments {
  std::string space;
  std::string milestone;
  std::string device = "virtual:l4";
  std::string shape;
  int repeats = 3;
};

std::string define(const std::string& name, const std::string& value) {
  std::string option = "-D";
  return option.append(name).append("=").append(value);
}

const Milestone& milestone_of(const Space& space, const std::string& name) {
  const auto& milestones = space.definition().milestones;
  const auto found = std::ranges::find(milestones, name, &Milestone::name);
  if (found != milestones.end()) return *found;
  std::string all;
  for (const Milestone& milestone : milestones) all += (all.empty() ? "" : ", ") + milestone.name;
  throw InputError(space.definition().file + ": no milestone '" + name + "'; there are: " + all);
}

Compiled compile(const Space& space, const Problem& problem, const KernelSpec& kernel,
                 const Candidate& candidate, const Shape& shape,
                 const std::filesystem::path& templates) {
  CompileRequest request{load_source(kernel.source, templates), kernel.entries(),
                         space.definition().arch, space.definition().compiler_options};
  for (const auto& [name, value] : space.macros(candidate)) {
    request.options.push_back(define(name, value));
  }
  for (const auto& [name, value] : problem.macros_for(shape)) {
    request.options.push_back(define(name, std::to_string(static_cast<long long>(value))));
  }
  CompileOutcome outcome = outcome_of(open_nvrtc()->compile(request));
  if (const auto* rejection = std::get_if<Rejection>(&outcome)) {
    throw InputError("does not compile: " + rejection->reason);
  }
  return std::get<Compiled>(std::move(outcome));
}

double megabytes_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double kKilo = 1e3;
  return static_cast<double>(usage.ru_maxrss) * 1.024 / kKilo;
}

void run(const Arguments& arguments) {
  const std::filesystem::path file = std::filesystem::absolute(arguments.space);
  const std::filesystem::path templates = file.parent_path().parent_path() / "kernel_templates";
  const Space space(read_space_file(file));
  const Problem problem = Problem::load(templates / space.definition().problem);
  const KernelSpec& spec = problem.kernel(space.definition().template_name);
  const Shape& shape =
      problem.shape(arguments.shape.empty() ? space.definition().shape : arguments.shape);
  const Candidate& candidate = milestone_of(space, arguments.milestone).candidate;
  const Compiled compiled = compile(space, problem, spec, candidate, shape, templates);

  const double before = megabytes_resident();
  const auto device = open_virtual_device(arguments.device);
  const auto loaded = device->load({compiled.ptx, compiled.cubin, spec.entries()});
  if (const auto* fault = std::get_if<Fault>(&loaded)) throw InputError(fault->reason);
  const LoadedKernel kernel{std::get<KernelId>(loaded), &spec, space.values(candidate)};
  const auto work = make_host_work(*device);
  ProblemPrograms programs(problem);
  CaseSet cases(*work, problem, programs, std::nullopt, {.seed = 1});  // nothing is expected
  const CheckCase& data = cases.inputs(shape, 0);
  const auto made = Workspace::make(*device, problem, kernel, data);
  if (const auto* fault = std::get_if<Fault>(&made)) throw DeviceMemoryError(fault->reason);
  const auto& workspace = std::get<Workspace>(made);
  double best = 0;
  for (int i = 0; i < arguments.repeats; ++i) {
    if (const auto fault =
            device->launch(kernel.id, kernel.launch_for(data), workspace.arguments_of(data))) {
      throw InputError(fault->reason + "\n" + fault->detail);
    }
    const double seconds = device->statistics().seconds;
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  double buffers = 0;
  constexpr double kMega = 1e6;
  for (const Argument& argument : problem.arguments) {
    if (argument.direction == Direction::kScalar) continue;
    if (argument.direction == Direction::kWorkspace) continue;
    buffers += static_cast<double>(argument.bytes(data.values)) / kMega;
  }
  std::printf(
      "%s, %s, shape %s on %s: %.3f s, %.1f M warp instructions; %.0f MB resident for "
      "%.1f MB of inputs and outputs (%.0f MB before)\n",
      space.definition().name.c_str(), arguments.milestone.c_str(), shape.name.c_str(),
      arguments.device.c_str(), best,
      static_cast<double>(device->statistics().warp_instructions) / kMega, megabytes_resident(),
      buffers, before);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app("One launch of a milestone on the virtual GPU, all checks on; the best of several.");
  evo::Arguments arguments;
  app.add_option("space", arguments.space, "search space file")->required();
  app.add_option("milestone", arguments.milestone, "its name in the space file")->required();
  app.add_option("--device", arguments.device, "virtual:NAME")->capture_default_str();
  app.add_option("--shape", arguments.shape, "of the problem file (default: the space's)");
  app.add_option("--repeats", arguments.repeats, "launches")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 1000000));
  return evo::tool_main("virtual-launch", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    evo::run(arguments);
    return evo::ExitCode::kGreen;
  });
}
