#include "tests/fake_driver/fake_machine.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace evo::fake_driver {
namespace {

using nlohmann::json;

template <typename T>
void read(const json& from, const char* key, T& to) {
  if (from.contains(key)) from.at(key).get_to(to);
}

Slice slice_in(const json& from) {
  Slice slice;
  read(from, "name", slice.name);
  read(from, "uuid", slice.uuid);
  read(from, "memory_mib", slice.memory_mib);
  return slice;
}

Gpu gpu_in(const json& from) {
  Gpu gpu;
  read(from, "name", gpu.name);
  read(from, "uuid", gpu.uuid);
  read(from, "bus", gpu.bus);
  read(from, "arch", gpu.arch);
  read(from, "sm_count", gpu.sm_count);
  read(from, "memory_mib", gpu.memory_mib);
  gpu.free_mib = gpu.memory_mib;
  read(from, "free_mib", gpu.free_mib);
  read(from, "sm_mhz", gpu.sm_mhz);
  read(from, "most_sm_mhz", gpu.most_sm_mhz);
  read(from, "application_mhz", gpu.application_mhz);
  read(from, "default_application_mhz", gpu.default_application_mhz);
  read(from, "held", gpu.held);
  read(from, "compute_mode", gpu.compute_mode);
  read(from, "context", gpu.context);
  read(from, "processes", gpu.processes);
  if (from.contains("mig")) gpu.mig = from.at("mig").get<bool>();
  for (const json& slice : from.value("slices", json::array())) {
    gpu.slices.push_back(slice_in(slice));
  }
  return gpu;
}

Machine read_machine() {
  const char* name = std::getenv("EVO_FAKE_MACHINE");
  std::ifstream file(name != nullptr ? name : "");
  if (!file) {
    std::fputs("fake driver: EVO_FAKE_MACHINE names no file\n", stderr);
    std::abort();
  }
  const json from = json::parse(file);
  Machine found;
  read(from, "cuda", found.cuda);
  read(from, "driver", found.driver);
  read(from, "cuda_init", found.cuda_init);
  read(from, "nvml_init", found.nvml_init);
  read(from, "cuda_does", found.cuda_does);
  read(from, "nvml_does", found.nvml_does);
  for (const json& gpu : from.value("gpus", json::array())) found.gpus.push_back(gpu_in(gpu));
  return found;
}

}  // namespace

const Machine& machine() {
  static const Machine the_machine = read_machine();
  return the_machine;
}

void misbehave(const std::string& how) {
  if (how == "crash") std::abort();
  while (how == "hang") pause();
}

}  // namespace evo::fake_driver
