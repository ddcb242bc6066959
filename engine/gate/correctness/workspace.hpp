#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// What one kernel's configuration decides of its arguments on one shape: buffers of a size of its
/// own (workspaces, zeroed once, and outputs), freed with this object, and values of scalars.
class Workspace {
 public:
  /// A Fault when the device's memory does not hold them. Throws InputError when an extent is no
  /// number of elements, or a scalar's type does not hold its value.
  [[nodiscard]] static std::variant<Workspace, Fault> make(Device& device, const Problem& problem,
                                                           const LoadedKernel& kernel,
                                                           const CheckCase& data);
  ~Workspace();
  Workspace(Workspace&& other) noexcept = default;
  Workspace& operator=(Workspace&&) = delete;

  /// The arguments of a case of the same shape with these in their places.
  [[nodiscard]] std::vector<KernelArgument> arguments_of(const CheckCase& data) const;

  /// Whether the kernel has any workspace.
  [[nodiscard]] bool is_empty() const { return bytes_ == 0; }

  /// As when it was made: a part of a grid may leave it as no launch does.
  void clear() const;

  /// A hash of what the workspaces hold.
  [[nodiscard]] std::string content_hash() const;

 private:
  explicit Workspace(Device& device) : device_(&device) {}

  struct Buffer {
    std::size_t position = 0;  ///< of the argument
    BufferId id = 0;
    std::size_t bytes = 0;
    bool is_output = false;
  };

  Device* device_;
  std::vector<Buffer> buffers_;
  std::vector<std::pair<std::size_t, ScalarArgument>> scalars_;  ///< by position
  std::size_t bytes_ = 0;
};

}  // namespace evo
