#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/timing/device_model.hpp"
#include "engine/device/virtual/timing/grid_kinds.hpp"
#include "engine/predict/launch_profile.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo::ptx {

/// A launch that was executed, with memory counted (LaunchContext::count_memory).
struct ExecutedLaunch {
  const Program& program;
  const ExecutedGrid& grid;
  std::string cubin = {};          ///< of the module; may be empty
  std::uint32_t version_line = 0;  ///< of `.version` in the module's PTX
  int registers = 0;               ///< per thread
  int threads = 0;                 ///< of a CTA
  int shared_bytes = 0;            ///< of a CTA, static and dynamic
  double footprint_bytes = 0;      ///< of all buffers it was given
  double fresh_bytes = 0;          ///< of those that are not the same in each launch that is timed
  double rotation_bytes = 0;       ///< of all that launches take when they are timed
};

struct PredictedLaunch {
  double us = 0;
  bool is_simulated = false;  ///< from the machine code; else by counts of the PTX
  LaunchProfile profile;
  std::vector<std::string> not_modelled = {};  ///< what else its time may depend on
  MachineRates rates = {};
  Occupancy occupancy = {};
};

/// One launch among many in a graph. By simulate_sm() where the cubin knows the lines of the PTX it
/// was made from, else by predict_time_us().
[[nodiscard]] PredictedLaunch predict_launch(const DeviceModel& model,
                                             const ExecutedLaunch& launch);

/// Microseconds of such a launch with other rates; what was made of counts stays as it is.
[[nodiscard]] double predicted_us(const MachineRates& rates, const PredictedLaunch& launch);

}  // namespace evo::ptx
