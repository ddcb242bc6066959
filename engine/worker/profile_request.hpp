#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "engine/worker/session.hpp"

namespace evo {

/// The kernel that a worker under a profiler launches, and its problem.
struct ProfileRequest {
  SessionSetup setup;
  KernelUnderTest kernel;
};

/// Writes a request as one frame (encode_frame()). Throws InputError if the file cannot be written.
void write_profile_request(const std::filesystem::path& file, const ProfileRequest& request);
/// Reads a request. Throws Error if the file is not a request.
[[nodiscard]] ProfileRequest read_profile_request(const std::filesystem::path& file);

/// Opens the device, warms the kernel up and launches it once between calls that start and stop the
/// profiler. Returns the exit code of the process: 1 if the kernel faults. Throws the exceptions of
/// `open`.
[[nodiscard]] int launch_profiled(const std::filesystem::path& file,
                                  const std::function<std::unique_ptr<Device>()>& open);

}  // namespace evo
