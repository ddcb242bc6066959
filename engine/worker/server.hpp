#pragma once

#include <functional>
#include <memory>

#include "engine/compile/compiler.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// The loop of a compiler worker: compile requests on standard input, outcomes on standard output,
/// until the input ends. `open` is called at the first request; what it throws is the reply.
/// Returns the exit code.
int serve_compiler(const std::function<std::unique_ptr<Compiler>()>& open);

/// The loop of a device worker, likewise.
int serve_device(const std::function<std::unique_ptr<Device>()>& open);

}  // namespace evo
