#include "engine/gate/correctness/forbidden_writes.hpp"

#include <algorithm>

#include "engine/core/error.hpp"

namespace evo {

ForbiddenWriteLook::ForbiddenWriteLook(BufferWork& work, const Problem& problem,
                                       const std::vector<KernelArgument>& arguments,
                                       const CheckCase& data)
    : work_(&work), problem_(&problem) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto buffer = buffer_of(data, arguments, i);
    if (!buffer) continue;
    OfArgument look{i, work.guard_zones(*buffer)};
    if (problem.arguments[i].direction == Direction::kIn) {
      look.change = work.first_difference(*buffer, *data.inputs[i]);
    }
    looks_.push_back(look);
  }
}

bool ForbiddenWriteLook::is_known() const {
  return std::ranges::all_of(looks_, [&](const OfArgument& look) {
    return work_->is_known(look.guard) && (!look.change || work_->is_known(*look.change));
  });
}

std::optional<std::string> ForbiddenWriteLook::found() const {
  for (const OfArgument& look : looks_) {
    if (auto violation = work_->guard_violation(look.guard)) return violation;
    if (!look.change) continue;
    if (const auto byte = work_->difference(*look.change)) {
      return "changed its input '" + problem_->arguments[look.position].name + "', first at byte " +
             std::to_string(*byte);
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_forbidden_write(BufferWork& work, const Problem& problem,
                                                const std::vector<KernelArgument>& arguments,
                                                const CheckCase& data) {
  work.begin();
  const ForbiddenWriteLook look(work, problem, arguments, data);
  if (const auto fault = work.finish())
    throw CudaError("checking buffers for violation: " + fault->reason);
  auto found = look.found();
  if (found) repair_guard_zones(work.device(), arguments, data);
  return found;
}

void repair_guard_zones(Device& device, const std::vector<KernelArgument>& arguments,
                        const CheckCase& data) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto buffer = buffer_of(data, arguments, i))
      (void)device.memory().guard_violation(*buffer);
  }
}

}  // namespace evo
