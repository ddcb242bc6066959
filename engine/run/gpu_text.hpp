#pragma once

#include <string>

#include "db/queries.hpp"

namespace evo {

/// Describes the state of the GPU during a run, as the driver reported it. Returns a line for
/// users for each disturbance: throttling, other processes, the power limit. The text is empty if
/// there was no disturbance.
[[nodiscard]] std::string gpu_text(const GpuSummary& summary);

/// Describes the state of the GPU during one timing: "SM 1965 MHz (1950 at least), memory 2619
/// MHz, 41 °C, 312 W".
[[nodiscard]] std::string gpu_text(const GpuState& state);

}  // namespace evo
