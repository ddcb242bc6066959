#pragma once

#include <string>

namespace evo {

/// The loop of a compiler worker: compile requests on standard input, outcomes on standard output,
/// until the input ends. Returns the exit code.
int serve_compiler();

/// The loop of a device worker. `device_id` as in open_device(), or "auto": the first CUDA GPU,
/// else the default virtual device.
int serve_device(const std::string& device_id);

}  // namespace evo
