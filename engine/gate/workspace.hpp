#pragma once

#include <string>
#include <variant>
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
  /// A Fault when the device's memory does not hold them. Throws InputError when an extent is no
  /// number of elements.
  [[nodiscard]] static std::variant<Workspace, Fault> make(Device& device, const Problem& problem,
                                                           const LoadedKernel& kernel,
                                                           const CheckCase& data);
  ~Workspace();
  Workspace(Workspace&& other) noexcept = default;
  Workspace& operator=(Workspace&&) = delete;

  /// The arguments of a case of the same shape with these workspaces in their places.
  [[nodiscard]] std::vector<KernelArgument> arguments_of(const CheckCase& data) const;

  /// Whether the kernel has any.
  [[nodiscard]] bool is_empty() const { return bytes_ == 0; }

  /// A hash of what they hold.
  [[nodiscard]] std::string content_hash() const;

 private:
  explicit Workspace(Device& device) : device_(&device) {}

  struct Buffer {
    std::size_t position = 0;  ///< of the argument
    BufferId id = 0;
    std::size_t bytes = 0;
  };

  Device* device_;
  std::vector<Buffer> buffers_;
  std::size_t bytes_ = 0;
};

}  // namespace evo
