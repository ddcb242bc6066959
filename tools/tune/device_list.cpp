#include "tools/tune/device_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "engine/core/error.hpp"
#include "engine/device/open_device.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/survey.hpp"

namespace evo {
namespace {

constexpr std::size_t kMostDevices = 64;

std::string allowed_devices() {
  return fmt::format(
      "; allowed: {} and none, and lists of one model such as cuda:all, cuda:0,cuda:2 or "
      "virtual:l4*4",
      kDeviceNames);
}

/// The names "cuda:0", … of all GPUs of this machine.
std::vector<std::string> all_gpus() {
  const CudaFacts facts = survey_cuda(worker_program());
  if (facts.gpus.empty()) {
    throw MissingError("--device cuda:all: no GPU" +
                       (facts.failure.empty() ? std::string() : ": " + facts.failure) +
                       "\nnext step: evo-tune doctor shows which part of the driver fails");
  }
  std::vector<std::string> ids;
  for (const CudaGpu& gpu : facts.gpus) ids.push_back(fmt::format("cuda:{}", gpu.ordinal));
  return ids;
}

/// Expands "virtual:l4*4" to four names. A count (*4) is allowed only for virtual GPUs.
std::vector<std::string> repeated(const std::string& option, const std::string& item) {
  const std::size_t star = item.find('*');
  if (star == std::string::npos) return {item};
  std::size_t count = 0;
  const char* end = item.data() + item.size();
  const auto read = std::from_chars(item.data() + star + 1, end, count);
  const bool is_number = read.ec == std::errc() && read.ptr == end;
  if (!is_number || count == 0 || count > kMostDevices || !item.starts_with("virtual:")) {
    throw InputError(
        fmt::format("--device {}: '{}' is not virtual:NAME*COUNT with a count from 1 to {}{}",
                    option, item, kMostDevices, allowed_devices()));
  }
  return std::vector<std::string>(count, item.substr(0, star));
}

void require_usable(const std::string& option, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (id.empty()) {
      throw InputError(
          fmt::format("--device {}: the name of a device is empty{}", option, allowed_devices()));
    }
    if (ids.size() > 1 && (id == "auto" || id == "none" || id == "cuda:all")) {
      throw InputError(fmt::format("--device {}: '{}' cannot be combined with other devices{}",
                                   option, id, allowed_devices()));
    }
    if (!id.starts_with("virtual:") && std::ranges::count(ids, id) > 1) {
      throw InputError(
          fmt::format("--device {}: {} is named twice{}", option, id, allowed_devices()));
    }
  }
}

}  // namespace

std::vector<std::string> device_ids(const std::string& option) {
  if (option == "none") return {};
  if (option == "cuda:all") return all_gpus();
  std::vector<std::string> ids;
  for (std::size_t begin = 0; begin <= option.size();) {
    const std::size_t end = std::min(option.find(',', begin), option.size());
    for (std::string& id : repeated(option, option.substr(begin, end - begin))) {
      ids.push_back(std::move(id));
    }
    begin = end + 1;
  }
  require_usable(option, ids);
  return ids;
}

}  // namespace evo
