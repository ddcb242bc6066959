#pragma once

#include <utility>
#include <vector>

#include "engine/gate/cases.hpp"

namespace evo {

/// A kernel loaded on a device, with what its expressions need.
struct LoadedKernel {
  KernelId id = 0;
  const KernelSpec* spec = nullptr;
  Values macros;  ///< the configuration's macros and value names

  /// Throws ProblemError when the geometry is out of CUDA's range.
  [[nodiscard]] LaunchConfig launch_for(const CheckCase& data) const;
};

/// The workspace buffers of one kernel on one shape, zeroed once; freed with this object.
class Workspace {
 public:
  Workspace(Device& device, const Problem& problem, const LoadedKernel& kernel,
            const CheckCase& data);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// The arguments of a case of the same shape with these workspaces in their places.
  [[nodiscard]] std::vector<KernelArgument> arguments_of(const CheckCase& data) const;

 private:
  Device& device_;
  std::vector<std::pair<std::size_t, BufferId>> buffers_;  ///< argument position → buffer
};

}  // namespace evo
