#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/gate/cases.hpp"

namespace evo {

/// The buffers of one kernel on one shape whose size its configuration decides: workspaces, zeroed
/// once, and outputs. Freed with this object.
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

  /// The arguments of a case of the same shape with these buffers in their places.
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
  std::size_t bytes_ = 0;
};

}  // namespace evo
