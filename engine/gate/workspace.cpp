#include "engine/gate/workspace.hpp"

#include <spdlog/spdlog.h>

#include <exception>

namespace evo {

LaunchConfig LoadedKernel::launch_for(const CheckCase& data) const {
  return spec->launch.evaluate(merged({&macros, &data.values}));
}

Workspace::Workspace(Device& device, const Problem& problem, const LoadedKernel& kernel,
                     const CheckCase& data)
    : device_(device) {
  const Values values = merged({&kernel.macros, &data.values});
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.direction != Direction::kWorkspace) continue;
    const std::size_t bytes = argument.bytes(values, kernel.spec->extent_of(argument));
    const BufferId buffer = device.allocate({argument.name, bytes, true});
    buffers_.emplace_back(i, buffer);
    device.fill(buffer, std::byte{0});
  }
}

Workspace::~Workspace() {
  for (const auto& [position, buffer] : buffers_) {
    try {
      device_.release(buffer);
    } catch (const std::exception& error) {
      // After a fault the context refuses every call; the process is about to be replaced.
      spdlog::debug("workspace not released: {}", error.what());
    }
  }
}

std::vector<KernelArgument> Workspace::arguments_of(const CheckCase& data) const {
  std::vector<KernelArgument> arguments = data.arguments;
  for (const auto& [position, buffer] : buffers_) arguments[position] = buffer;
  return arguments;
}

}  // namespace evo
