#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/compile/compiler.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// The main loop of a worker that compiles: reads compile requests from standard input and writes
/// the results to standard output until the input ends or memory runs out. `open` is called at the
/// first request; if it throws, the reply contains the error. A compilation can open only files
/// inside the include paths of its request. `must_see_files`: if a successful compilation seems to
/// open no file, the worker reports an error, because it cannot observe which files the compiler
/// opens. Returns the exit code.
int serve_compiler(const std::function<std::unique_ptr<Compiler>()>& open, bool must_see_files);

/// The main loop of a worker that owns a device and runs the gates on it. The loop ends as in
/// serve_compiler(), and when the device is lost. `open` and the exit code are as in
/// serve_compiler().
int serve_device(const std::function<std::unique_ptr<Device>()>& open);

/// The main loop of a worker that reports facts about NVML, the CUDA driver or NVRTC. `read`
/// returns the facts as JSON.
int serve_survey(const std::function<nlohmann::json()>& read);

}  // namespace evo
