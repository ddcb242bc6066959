#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/compile/compiler.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// The loop of a compiler worker: compile requests on standard input, outcomes on standard output,
/// until the input ends. `open` is called at the first request; the reply reports its exceptions.
/// Files outside the request's include paths cannot be opened during a compilation.
/// `must_see_files`: a compilation that opens no file is an error, because every compilation opens
/// files, so watching them does not work. Returns the exit code.
int serve_compiler(const std::function<std::unique_ptr<Compiler>()>& open, bool must_see_files);

/// The loop of a device worker, likewise.
int serve_device(const std::function<std::unique_ptr<Device>()>& open);

/// The loop of a worker that looks at NVML, the CUDA driver or NVRTC. `read` returns what it found,
/// as JSON.
int serve_survey(const std::function<nlohmann::json()>& read);

}  // namespace evo
