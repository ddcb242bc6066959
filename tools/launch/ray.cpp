#include "tools/launch/launch.hpp"

namespace evo {

std::vector<LaunchCommand> ray_commands(const std::string& address, const LaunchRequest& request) {
  return {{{"python3", "-m", "evo_tune.ray_workers", "--ray", address, "--connect", request.address,
            "--worker", request.worker, "--device", request.device, "--jobs", request.jobs},
           false}};
}

}  // namespace evo
