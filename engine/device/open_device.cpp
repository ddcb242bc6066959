#include "engine/device/open_device.hpp"

#include <charconv>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/device/cuda/cuda_device.hpp"
#include "engine/device/virtual/timing/device_model.hpp"
#include "engine/device/virtual/virtual_device.hpp"

namespace evo {

std::unique_ptr<Device> open_device(const std::string& id) {
  if (id == "auto") {
    try {
      return open_cuda_device(0);
    } catch (const NoGpuError&) {
      return open_device(std::string(kDefaultVirtualDevice));
    }
  }
  constexpr std::string_view kCuda = "cuda:";
  if (id.starts_with(kCuda)) {
    int ordinal = 0;
    const char* end = id.data() + id.size();
    const auto parsed = std::from_chars(id.data() + kCuda.size(), end, ordinal);
    if (parsed.ec == std::errc() && parsed.ptr == end) return open_cuda_device(ordinal);
  }
  if (id.starts_with("virtual:")) return open_virtual_device(id);
  std::vector<std::string> known = ptx::device_ids();
  known.insert(known.begin(), {"auto", "cuda:N"});
  throw InputError(unknown_name("device", id, known));
}

}  // namespace evo
