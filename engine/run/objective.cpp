#include "engine/run/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"

namespace evo {

namespace {

Expression parsed(const std::string& text) {
  constexpr const char* kOption = "--objective";
  try {
    return Expression(text, {}, kOption);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", kOption, error.what()));
  }
}

}  // namespace

Objective::Objective(const std::string& text) : expression_(parsed(text)) {
  const auto& names = expression_.variables();
  for (const std::string& name : names) {
    if (name == "time" || name == "energy") continue;
    throw InputError(
        fmt::format("--objective: {} (µs and mJ of a launch), or both, as in "
                    "\"time*energy^0.5\"",
                    unknown_name("name", name, {"time", "energy"})));
  }
  if (names.empty()) {
    throw InputError(
        fmt::format("--objective: '{}' does not depend on the kernel; allowed: time, energy, or an "
                    "expression over both, such as \"time*energy^0.5\"",
                    text));
  }
  uses_energy_ = std::ranges::find(names, "energy") != names.end();
}

std::optional<double> Objective::of(const Timing& timing,
                                    const std::optional<Energy>& energy) const {
  if (uses_energy_ && !energy) return std::nullopt;
  const std::map<std::string, double> values = {{"time", timing.p50_us},
                                                {"energy", energy ? energy->launch_mj : 0}};
  const double value = expression_.evaluate(values);
  if (!(value > 0)) {
    throw InputError(
        fmt::format("--objective: '{}' is {} where time is {} µs and energy {} mJ; it "
                    "must be above zero, and smaller for a better kernel",
                    text(), value, timing.p50_us, values.at("energy")));
  }
  return value;
}

}  // namespace evo
