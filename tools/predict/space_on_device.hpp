#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "engine/compile/compiler.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/gate/correctness/workspace.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// A search space and its problem on a virtual device in this process: compiles candidates and
/// loads them with data for one shape. Not thread-safe.
class SpaceOnDevice {
 public:
  /// `space_file` must be in a folder beside kernel_templates. If `shape` is empty, uses the timed
  /// shape of the space. Throws InputError for invalid arguments.
  SpaceOnDevice(const std::string& space_file, const std::string& shape, const std::string& device,
                const VirtualOptions& options = {})
      : SpaceOnDevice(read_space_file(std::filesystem::absolute(space_file)), shape, device,
                      options) {}

  /// Finds a source file by the name in the line information, in the folder of the template or in
  /// kernel_templates.
  [[nodiscard]] std::filesystem::path source_file(const std::string& name) const;
  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] VirtualDevice& device() { return *device_; }
  /// The buffers of a launch, with generated inputs.
  [[nodiscard]] const CheckCase& data() { return cases_.inputs(shape_, 0); }

  /// Compiles a candidate with -lineinfo.
  [[nodiscard]] CompileOutcome compile(const Candidate& candidate);
  [[nodiscard]] std::variant<LoadedKernel, Fault> load(const Candidate& candidate,
                                                       const Compiled& compiled);
  /// Allocates the workspaces of a kernel for the shape of data().
  [[nodiscard]] std::variant<Workspace, Fault> workspace_of(const LoadedKernel& kernel);

 private:
  SpaceOnDevice(const SpaceDefinition& space, const std::string& shape, const std::string& device,
                const VirtualOptions& options);

  std::filesystem::path templates_;
  Problem problem_;
  const KernelSpec& spec_;
  const Shape& shape_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<VirtualDevice> device_;
  Space space_;
  std::unique_ptr<BufferWork> work_;
  ProblemPrograms programs_;
  CaseSet cases_;
};

}  // namespace evo
