#include "tools/worker/host_options.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/device/open_device.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/run_key.hpp"
#include "engine/worker/survey.hpp"
#include "tools/cli/argument_text.hpp"

namespace evo {
namespace {

constexpr std::size_t kMostWorkers = 1024;
constexpr std::size_t kMostCopies = 999;  ///< of one virtual GPU

/// Adds the names in a --device list to `devices`; "virtual:l4*2" becomes two names, "none" no
/// name. Throws InputError if the list has a mistake.
void add_devices(std::vector<std::string>& devices, const std::string& list) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string id = list.substr(begin, end - begin);
    std::size_t count = 1;
    if (const std::size_t star = id.find('*'); star != std::string::npos) {
      count = number_in<std::size_t>(id.substr(star + 1)).value_or(0);
      if (!id.starts_with("virtual:")) count = 0;
      id.resize(star);
    }
    if (id.empty() || count == 0 || count > kMostCopies) {
      throw InputError("--device " + list + ": allowed: " + std::string(kDeviceNames) +
                       " and virtual:NAME*COUNT, with commas between them; none for no device");
    }
    if (id != "none") devices.insert(devices.end(), count, id);
    begin = end + 1;
  }
}

std::size_t job_count(const std::string& text) {
  if (text == "all") return std::max(1U, std::thread::hardware_concurrency());
  const auto count = number_in<std::size_t>(text);
  if (count && *count <= kMostWorkers) return *count;
  throw InputError("--jobs " + text + ": allowed: 0 to " + std::to_string(kMostWorkers) +
                   ", or all: one for each core");
}

/// The words of a command line; an option with its value behind "=" becomes two words.
std::vector<std::string> words_of(std::span<char* const> arguments) {
  std::vector<std::string> words;
  for (const std::string_view argument : arguments) {
    const std::string_view name = argument.substr(0, argument.find('='));
    const bool has_value = name == "--connect" || name == "--device" || name == "--jobs";
    words.emplace_back(has_value ? name : argument);
    if (has_value && name != argument) words.emplace_back(argument.substr(name.size() + 1));
  }
  return words;
}

/// Replaces "auto" by real GPUs: for `evo-worker device`, by the first visible GPU; for `evo-worker
/// host`, by all GPUs. "auto" never becomes a virtual GPU, because the first worker decides the GPU
/// model of a run. Throws InputError if "auto" is not the only device.
std::vector<std::string> real_devices(std::vector<std::string> devices, bool is_host,
                                      const std::filesystem::path& program) {
  if (std::ranges::find(devices, "auto") == devices.end()) return devices;
  if (devices.size() > 1) {
    throw InputError(
        "--device: 'auto' cannot be combined with other devices; allowed: auto, or "
        "the names of devices such as cuda:0,cuda:2");
  }
  if (!is_host) return {"cuda:0"};
  const CudaFacts facts = survey_cuda(program);
  devices.clear();
  for (const CudaGpu& gpu : facts.gpus) {
    devices.push_back("cuda:" + std::to_string(gpu.ordinal));
  }
  if (devices.empty()) {
    std::fprintf(stderr, "evo-worker: no GPU on %s%s%s; this host offers compilers only\n",
                 host_name().c_str(), facts.failure.empty() ? "" : ": ", facts.failure.c_str());
  }
  return devices;
}

}  // namespace

std::optional<AgentOptions> worker_host_options(std::span<char* const> arguments) {
  const std::vector<std::string> words = words_of(arguments);
  const bool is_one = words.size() > 1 && std::ranges::count(words, "--connect") == 1 &&
                      (words[1] == "device" || words[1] == "compile" || words[1] == "host");
  if (!is_one) return std::nullopt;
  AgentOptions options;
  if (words[1] == "compile") options.compilers = 1;
  bool takes_standard_input = false;
  bool names_device = words[1] != "device";
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) throw InputError(words[i] + ": a value is missing");
      return words[++i];
    };
    if (words[i] == "--connect") {
      options.coordinator = parse_host_port("--connect", value());
    } else if (words[i] == "--jobs") {
      options.compilers = job_count(value());
    } else if (words[i] == "--device") {
      add_devices(options.devices, value());
      names_device = true;
    } else if (words[i] == "--key-stdin") {
      takes_standard_input = true;
    } else if (words[1] == "device" && !words[i].starts_with('-')) {
      add_devices(options.devices, words[i]);
      names_device = true;
    } else {
      throw InputError("unknown option " + words[i] +
                       "; allowed: --connect, --device, --jobs and --key-stdin");
    }
  }
  if (!names_device) options.devices = {"auto"};
  options.program = worker_program();
  options.devices = real_devices(std::move(options.devices), words[1] == "host", options.program);
  if (options.devices.empty() && options.compilers == 0) {
    throw InputError("evo-worker " + words[1] + ": no worker: --device ID or --jobs N is required");
  }
  options.key = takes_standard_input ? key_of_standard_input() : key_of_environment();
  options.version = EVO_VERSION;
  return options;
}

}  // namespace evo
