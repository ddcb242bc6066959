#include "engine/ptx/launch_attributes.hpp"

#include "engine/ptx/outline.hpp"

namespace evo {

LaunchAttributes launch_attributes(std::string_view ptx, std::string_view entry) {
  const auto mentions = [&](std::string_view text) {
    return ptx.find(text) != std::string_view::npos;
  };
  if (!mentions("%envreg") && !mentions(ptx::kGridWaitWord)) return {};
  const ptx::Outline outline(ptx);
  const auto reached = outline.reached_from(entry);
  return {.cooperative = reached.contains("%envreg1") || reached.contains("%envreg2"),
          .programmatic = reached.contains(ptx::kGridWaitWord)};
}

}  // namespace evo
