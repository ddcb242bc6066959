#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Checks that a launch has changed neither the guard zones around its buffers nor its inputs.
class ForbiddenWriteLook {
 public:
  /// Queues a check of the buffers in `arguments`, the arguments of a launch on `data` or on copies
  /// of the buffers of `data`. `work` and `problem` must outlive this object.
  ForbiddenWriteLook(BufferWork& work, const Problem& problem,
                     const std::vector<KernelArgument>& arguments, const CheckCase& data);

  [[nodiscard]] bool is_known() const;

  /// Describes the violation to the first overwritten argument: an overwritten guard zone or a
  /// changed input; nullopt if there is none. Call found() after the check has finished.
  [[nodiscard]] std::optional<std::string> found() const;

 private:
  struct OfArgument {
    std::size_t position = 0;
    Look guard = 0;
    std::optional<Look> change = {};  ///< the check for a changed input
  };

  const BufferWork* work_;
  const Problem* problem_;
  std::vector<OfArgument> looks_;
};

/// Checks the buffers as ForbiddenWriteLook does, waits for the result, and repairs overwritten
/// guard zones.
[[nodiscard]] std::optional<std::string> find_forbidden_write(
    BufferWork& work, const Problem& problem, const std::vector<KernelArgument>& arguments,
    const CheckCase& data);

/// Restores the guard zones of all buffers of a launch on `data`.
void repair_guard_zones(Device& device, const std::vector<KernelArgument>& arguments,
                        const CheckCase& data);

}  // namespace evo
