#include "engine/ptx/cooperative.hpp"

#include <algorithm>

#include "engine/ptx/outline.hpp"

namespace evo {

bool is_cooperative(std::string_view ptx, std::string_view entry) {
  using ptx::Declaration;
  if (ptx.find("%envreg") == std::string_view::npos) return false;
  const ptx::Outline outline(ptx);
  return std::ranges::any_of(outline.declarations(), [&](const Declaration& its) {
    const bool counts = its.kind == Declaration::Kind::kFunction ||
                        (its.kind == Declaration::Kind::kEntry && its.name == entry);
    return counts && std::ranges::any_of(its.names, [](std::string_view name) {
             return name == "%envreg1" || name == "%envreg2";
           });
  });
}

}  // namespace evo
