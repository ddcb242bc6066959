#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// A look at what kernels must not have done to the buffers of a launch.
class DamageLook {
 public:
  /// Looks at the buffers of `arguments` (of a launch on `data`, or on a copy of it), behind what
  /// was queued before. `work` and `problem` must outlive it.
  DamageLook(BufferWork& work, const Problem& problem, const std::vector<KernelArgument>& arguments,
             const CheckCase& data);

  [[nodiscard]] bool is_known() const;

  /// Once it is known: of the first argument that was damaged, its guard zone that was overwritten,
  /// else where the input changed.
  [[nodiscard]] std::optional<std::string> found() const;

 private:
  struct OfArgument {
    std::size_t position = 0;
    Look guard = 0;
    std::optional<Look> change = {};  ///< of an input
  };

  const BufferWork* work_;
  const Problem* problem_;
  std::vector<OfArgument> looks_;
};

/// Looks, and waits for the result. Begins work.
[[nodiscard]] std::optional<std::string> find_damage(BufferWork& work, const Problem& problem,
                                                     const std::vector<KernelArgument>& arguments,
                                                     const CheckCase& data);

/// Makes the guard zones of all buffers of a launch on `data` as they were.
void repair_guard_zones(Device& device, const std::vector<KernelArgument>& arguments,
                        const CheckCase& data);

}  // namespace evo
