#include "engine/core/gpu_state.hpp"

#include <array>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr std::array<std::pair<Slowdown, std::string_view>, 5> kSlowdownNames = {{
    {Slowdown::kPowerCap, "power cap"},
    {Slowdown::kHardware, "hardware slowdown"},
    {Slowdown::kSoftwareThermal, "software thermal slowdown"},
    {Slowdown::kHardwareThermal, "hardware thermal slowdown"},
    {Slowdown::kPowerBrake, "power brake"},
}};

}  // namespace

std::string_view to_string(Slowdown slowdown) {
  return kSlowdownNames[static_cast<std::size_t>(slowdown)].second;
}

Slowdown slowdown_from_string(std::string_view text) {
  for (const auto& [slowdown, name] : kSlowdownNames) {
    if (name == text) return slowdown;
  }
  throw InputError("unknown slowdown '" + std::string(text) + "'");
}

bool spoils_times(Slowdown slowdown) { return slowdown != Slowdown::kPowerCap; }

}  // namespace evo
