// Launches a kernel for a profiler, in a worker process that the profiler has started.

#include <cstdio>

#include "engine/worker/profile_request.hpp"

namespace evo {

int launch_profiled(const std::filesystem::path& file,
                    const std::function<std::unique_ptr<Device>()>& open) {
  const ProfileRequest request = read_profile_request(file);
  const std::unique_ptr<Device> device = open();
  Session session(*device, request.setup);
  if (const auto fault = session.launch_profiled(request.kernel)) {
    std::fprintf(stderr, "evo-worker: the profiled kernel failed: %s\n", fault->reason.c_str());
    return 1;
  }
  return 0;
}

}  // namespace evo
