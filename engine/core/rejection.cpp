#include "engine/core/rejection.hpp"

#include <array>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr std::array<std::pair<Gate, std::string_view>, kGates> kNames = {{
    {Gate::kBuild, "build"},
    {Gate::kResource, "resource"},
    {Gate::kCorrectness, "correctness"},
    {Gate::kTiming, "timing"},
    {Gate::kProfile, "profile"},
}};

}  // namespace

std::string_view to_string(Gate gate) {
  for (const auto& [value, name] : kNames) {
    if (value == gate) return name;
  }
  return "unknown";
}

Gate gate_from_string(std::string_view text) {
  for (const auto& [value, name] : kNames) {
    if (name == text) return value;
  }
  throw InputError("unknown gate '" + std::string(text) +
                   "'; allowed: build, resource, correctness, timing, profile");
}

}  // namespace evo
