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

/// A launch that was executed with LaunchContext::count_memory, and data that its prediction needs.
struct ExecutedLaunch {
  const Program& program;
  const ExecutedGrid& grid;
  std::string cubin = {};          ///< cubin of the module; may be empty
  std::uint32_t version_line = 0;  ///< line of `.version` in the module's PTX
  int registers = 0;               ///< per thread
  int threads = 0;                 ///< per CTA
  int shared_bytes = 0;            ///< per CTA, static and dynamic
  double footprint_bytes = 0;      ///< bytes of all buffers of the launch
  double fresh_bytes = 0;          ///< bytes of the buffers that differ between timed launches
  double rotation_bytes = 0;       ///< bytes of all buffers of all timed launches
};

struct PredictedLaunch {
  double us = 0;
  /// true: predicted by a simulation of the machine code; false: predicted from the instruction
  /// counts of the PTX
  bool is_simulated = false;
  LaunchProfile profile;
  std::vector<std::string> not_modelled = {};  ///< effects that the time model neglects
  MachineRates rates = {};
  Occupancy occupancy = {};
};

/// Predicts the time of one launch among many in a graph. Uses simulate_sm() or, if it simulates
/// nothing (for example because the cubin records no PTX lines), predict_time_us().
[[nodiscard]] PredictedLaunch predict_launch(const DeviceModel& model,
                                             const ExecutedLaunch& launch);

/// The microseconds that the launch would take on a GPU with the parameters `rates`. The result
/// does not depend on `rates` if the launch was predicted from instruction counts.
[[nodiscard]] double predicted_us(const MachineRates& rates, const PredictedLaunch& launch);

}  // namespace evo::ptx
