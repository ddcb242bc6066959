#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "engine/worker/session.hpp"

namespace evo {

/// What a worker that is started under a profiler is to launch.
struct ProfileRequest {
  SessionSetup setup;
  KernelUnderTest kernel;
};

/// As one frame (encode_frame()). Throws InputError when the file cannot be written.
void write_profile_request(const std::filesystem::path& file, const ProfileRequest& request);
/// Throws Error for a file that is no request.
[[nodiscard]] ProfileRequest read_profile_request(const std::filesystem::path& file);

/// Opens the device, warms the kernel up and launches it once between the marks of the profiler.
/// The exit code of the process: 1 when the kernel faults. Throws what opening throws.
[[nodiscard]] int launch_profiled(const std::filesystem::path& file,
                                  const std::function<std::unique_ptr<Device>()>& open);

}  // namespace evo
