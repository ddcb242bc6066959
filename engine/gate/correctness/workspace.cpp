#include "engine/gate/correctness/workspace.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <span>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/problem/tensor_map_argument.hpp"

namespace evo {

std::variant<Workspace, Fault> Workspace::make(Device& device, const Problem& problem,
                                               const LoadedKernel& kernel, const CheckCase& data) {
  const Values values = merged({&kernel.macros, &data.values});
  Workspace workspace(device);
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.tensor_map) {
      if (!kernel.spec->takes(i)) continue;
      workspace.values_.emplace_back(
          i, TensorMapArgument{.spec = tensor_map_of(problem, *kernel.spec, i, values),
                               .of = argument.tensor_map->position});
    } else if (argument.is_set_by_macros) {
      workspace.values_.emplace_back(i, ScalarArgument{argument.scalar_bytes(values)});
    }
    if (!argument.belongs_to_kernel()) continue;
    const std::size_t bytes = argument.bytes(values, kernel.spec->extent_of(argument));
    try {
      const BufferId buffer = device.memory().allocate({.name = argument.name,
                                                        .bytes = bytes,
                                                        .writable = true,
                                                        .is_kept = !argument.is_output()});
      workspace.buffers_.push_back({i, buffer, bytes, argument.is_output()});
      if (!argument.is_output()) workspace.bytes_ += bytes;
      device.memory().fill(buffer, std::byte{0});
    } catch (const DeviceMemoryError& error) {
      return Fault{"the kernel's workspace does not fit into the device's memory on shape '" +
                   data.shape->name + "': " + error.what()};
    }
  }
  return workspace;
}

Workspace::~Workspace() {
  for (const Buffer& buffer : buffers_) {
    try {
      device_->memory().release(buffer.id);
    } catch (const std::exception& error) {
      // After a fault, the CUDA context rejects every call, so the memory is only freed when the
      // worker process ends.
      spdlog::debug("workspace not released: {}", error.what());
    }
  }
}

std::vector<KernelArgument> Workspace::arguments_of(const CheckCase& data) const {
  std::vector<KernelArgument> arguments = data.arguments;
  for (const Buffer& buffer : buffers_) arguments[buffer.position] = buffer.id;
  for (const auto& [position, value] : values_) arguments[position] = value;
  return arguments;
}

void Workspace::clear() const {
  for (const Buffer& buffer : buffers_) device_->memory().fill(buffer.id, std::byte{0});
}

std::string Workspace::content_hash() const {
  ContentHash hash;
  for (const Buffer& buffer : buffers_) {
    if (buffer.is_output) continue;
    std::string content(buffer.bytes, '\0');
    device_->memory().download(buffer.id, std::as_writable_bytes(std::span(content)));
    hash.add(content);
  }
  return hash.hex();
}

}  // namespace evo
