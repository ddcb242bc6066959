#pragma once

#include <optional>
#include <string>
#include <vector>

namespace evo::fake_driver {

struct Slice {
  std::string name;
  std::string uuid;  ///< "MIG-…"
  unsigned long long memory_mib = 0;
};

/// A GPU as the fake libraries report it.
struct Gpu {
  std::string name;
  std::string uuid;  ///< "GPU-…"
  unsigned bus = 0;  ///< BUS in the PCI bus id 0000:BUS:00.0
  int arch = 0;      ///< 89 for sm_89
  int sm_count = 0;
  unsigned long long memory_mib = 0;
  unsigned long long free_mib = 0;
  unsigned sm_mhz = 0;
  unsigned most_sm_mhz = 0;
  unsigned application_mhz = 0;          ///< 0: NVML does not report it
  unsigned default_application_mhz = 0;  ///< 0: NVML does not report it
  bool held = false;                     ///< whether the clock is held at application_mhz
  int compute_mode = 0;
  int context = 0;  ///< the result of creating a context
  std::vector<unsigned> processes = {};
  std::optional<bool> mig = {};
  std::vector<Slice> slices = {};
};

/// A machine with NVIDIA's driver, as the fake libraries of this folder report it. The libraries
/// read its description from the JSON file that the environment variable EVO_FAKE_MACHINE names.
/// The keys of this file are the names of the members; a member without a key has its default,
/// except that without free_mib all memory is free.
struct Machine {
  int cuda = 0;                ///< 12040 for 12.4
  std::string driver;          ///< "550.54.14"
  int cuda_init = 0;           ///< the result of cuInit
  int nvml_init = 0;           ///< the result of nvmlInit_v2
  std::string cuda_does = {};  ///< "crash" or "hang", in cuInit
  std::string nvml_does = {};  ///< "crash" or "hang", in nvmlInit_v2
  std::vector<Gpu> gpus = {};
};

/// Reads the file EVO_FAKE_MACHINE at the first call. Ends the process with a message if the file
/// is missing.
[[nodiscard]] const Machine& machine();

/// Aborts the process if `how` is "crash"; never returns if `how` is "hang".
void misbehave(const std::string& how);

}  // namespace evo::fake_driver
