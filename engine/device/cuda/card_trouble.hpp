#pragma once

#include <cuda.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/driver.hpp"
#include "engine/device/device_files.hpp"

namespace evo {

/// Facts around a call of the driver that failed.
struct CardSurroundings {
  NvmlFacts nvml;
  std::vector<DeviceFile> files;
  std::optional<std::string> visible = {};  ///< CUDA_VISIBLE_DEVICES, also when it is empty
};

/// Reads those of this process and machine.
[[nodiscard]] CardSurroundings read_card_surroundings();

/// Why the driver could not be initialised, for people: the cause in the first line, "next step: "
/// and what mends it in the second, what goes without a GPU in the third. Nothing when there is no
/// GPU at all, or none is wanted here: then no step makes one.
[[nodiscard]] std::optional<std::string> init_trouble(const CudaDriver& driver, CUresult result,
                                                      const CardSurroundings& around);

/// Why the driver makes no context on this card, in the same form.
[[nodiscard]] std::string context_trouble(const CudaDriver& driver, CUresult result,
                                          const CudaCard& card, const CardSurroundings& around);

}  // namespace evo
