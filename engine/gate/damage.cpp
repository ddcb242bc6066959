#include "engine/gate/damage.hpp"

#include <algorithm>

namespace evo {

std::optional<std::string> find_damage(Device& device, const Problem& problem,
                                       const std::vector<KernelArgument>& arguments,
                                       const CheckCase& data) {
  std::optional<std::string> first;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferId>(&arguments[i]);
    if (buffer == nullptr) continue;
    // Every buffer is looked at, because looking also repairs.
    const std::optional<std::string> found = device.guard_violation(*buffer);
    if (found && !first) first = found;
    if (problem.arguments[i].direction != Direction::kIn) continue;
    std::vector<std::byte> now(data.inputs[i].size());
    device.download(*buffer, now);
    if (now == data.inputs[i] || first) continue;
    const auto changed = std::mismatch(now.begin(), now.end(), data.inputs[i].begin()).first;
    first = "changed its input '" + problem.arguments[i].name + "', first at byte " +
            std::to_string(changed - now.begin());
  }
  return first;
}

}  // namespace evo
