#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Those arguments of one kernel on one shape that depend on the kernel's configuration: workspaces
/// and buffers whose size depends on macros (both zeroed when they are allocated), values of
/// scalars that macros set, and tensor maps. The destructor frees the buffers.
class Workspace {
 public:
  /// Returns a Fault if the device has too little memory. Throws InputError if an extent is no
  /// valid number of elements, if a scalar's value does not fit its type, or if CUDA rejects a
  /// tensor map.
  [[nodiscard]] static std::variant<Workspace, Fault> make(Device& device, const Problem& problem,
                                                           const LoadedKernel& kernel,
                                                           const CheckCase& data);
  ~Workspace();
  Workspace(Workspace&& other) noexcept = default;
  Workspace& operator=(Workspace&&) = delete;

  /// The arguments for a launch on `data`, a case of the same shape: the arguments of the case,
  /// with the arguments of this workspace inserted.
  [[nodiscard]] std::vector<KernelArgument> arguments_of(const CheckCase& data) const;

  /// Whether the kernel has no workspace.
  [[nodiscard]] bool is_empty() const { return bytes_ == 0; }

  /// Zeroes the buffers again, because a launch of a part of the grid may leave a state that no
  /// launch of the whole grid leaves.
  void clear() const;

  /// A hash of the content of the workspaces.
  [[nodiscard]] std::string content_hash() const;

 private:
  explicit Workspace(Device& device) : device_(&device) {}

  struct Buffer {
    std::size_t position = 0;  ///< index of the argument
    BufferId id = 0;
    std::size_t bytes = 0;
    bool is_output = false;
  };

  Device* device_;
  std::vector<Buffer> buffers_;
  std::vector<std::pair<std::size_t, KernelArgument>> values_;  ///< argument index, value
  std::size_t bytes_ = 0;
};

}  // namespace evo
