#include "engine/device/virtual/checks/place_names.hpp"

#include <utility>

#include "engine/ptx/variables.hpp"

namespace evo::ptx {

std::string PlaceNames::thread(int warp, int lane) const {
  const std::string of_warp = " of warp " + std::to_string(warp);
  if (lane < 0 || lane >= kWarpSize) return "several threads" + of_warp;
  const auto thread = static_cast<std::uint32_t>(warp * kWarpSize + lane);
  const auto& block = launch_.block;
  return "thread (" + std::to_string(thread % block[0]) + "," +
         std::to_string(thread / block[0] % block[1]) + "," +
         std::to_string(thread / (block[0] * block[1])) + ")" + of_warp;
}

std::string PlaceNames::shared(std::uint64_t address) const {
  const auto& names = launch_.program->shared_names;
  const std::pair<std::uint32_t, std::string>* best = nullptr;
  for (const auto& entry : names) {
    if (entry.first <= address && (best == nullptr || entry.first >= best->first)) best = &entry;
  }
  if (best == nullptr) return "shared byte " + std::to_string(address);
  return "byte " + std::to_string(address - best->first) + " of shared '" +
         variable_name(best->second) + "' (shared byte " + std::to_string(address) + ")";
}

}  // namespace evo::ptx
