#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "engine/worker/session.hpp"

namespace evo {

/// A request to a worker process under a profiler: the kernel to launch, and its problem.
struct ProfileRequest {
  SessionSetup setup;
  KernelUnderTest kernel;
};

/// Writes the request to `file` as one frame (encode_frame()). Throws InputError if the file cannot
/// be written.
void write_profile_request(const std::filesystem::path& file, const ProfileRequest& request);
/// Reads a request from `file`. Throws Error if the file does not contain a request.
[[nodiscard]] ProfileRequest read_profile_request(const std::filesystem::path& file);

/// Reads the request in `file`, opens the device, warms the kernel up, and launches it once between
/// calls that start and stop the profiler. Returns the exit code of the process: 1 if the kernel
/// faults. Throws the exceptions of read_profile_request(), `open` and Session.
[[nodiscard]] int launch_profiled(const std::filesystem::path& file,
                                  const std::function<std::unique_ptr<Device>()>& open);

}  // namespace evo
