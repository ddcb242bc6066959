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

/// The circumstances of a failed driver call.
struct CardSurroundings {
  NvmlFacts nvml;
  std::vector<DeviceFile> files;
  std::optional<std::string> visible = {};  ///< CUDA_VISIBLE_DEVICES, even if empty
};

/// Reads the circumstances of this process and machine.
[[nodiscard]] CardSurroundings read_card_surroundings();

/// Why the driver could not be initialised, for users. First line: the cause. Second line: "next
/// step: " and the remedy. Third line: what works without a GPU. Nullopt if there is no GPU or its
/// use is disabled, because no remedy exists then.
[[nodiscard]] std::optional<std::string> init_trouble(const CudaDriver& driver, CUresult result,
                                                      const CardSurroundings& around);

/// Why the driver creates no context on this card, in the same form.
[[nodiscard]] std::string context_trouble(const CudaDriver& driver, CUresult result,
                                          const CudaCard& card, const CardSurroundings& around);

}  // namespace evo
