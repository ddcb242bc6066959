#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Checks that a launch did not damage its buffers.
class DamageLook {
 public:
  /// Checks the buffers of `arguments` (of a launch on `data`, or on a copy of it) after the work
  /// queued so far. `work` and `problem` must outlive it.
  DamageLook(BufferWork& work, const Problem& problem, const std::vector<KernelArgument>& arguments,
             const CheckCase& data);

  [[nodiscard]] bool is_known() const;

  /// After the check has finished: the overwritten guard zone or else the changed input of the
  /// first damaged argument.
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

/// Checks and waits for the result. Uses the device.
[[nodiscard]] std::optional<std::string> find_damage(BufferWork& work, const Problem& problem,
                                                     const std::vector<KernelArgument>& arguments,
                                                     const CheckCase& data);

/// Restores the guard zones of all buffers of a launch on `data`.
void repair_guard_zones(Device& device, const std::vector<KernelArgument>& arguments,
                        const CheckCase& data);

}  // namespace evo
