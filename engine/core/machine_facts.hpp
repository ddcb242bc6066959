#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Facts of a machine, as reported by the libraries of NVIDIA's driver and by NVRTC. Optional
// figures are missing if a library or GPU does not report them.

namespace evo {

/// How many processes may use a GPU. The enumerators' values are those of nvmlComputeMode_t and
/// CUcomputemode.
enum class ComputeMode {
  kDefault = 0,
  kExclusiveThread = 1,
  kProhibited = 2,
  kExclusiveProcess = 3,
};

/// The mode as text, for example "default" or "exclusive process".
[[nodiscard]] std::string to_string(ComputeMode mode);

/// A MIG instance: a part of a GPU that CUDA sees as a separate GPU.
struct GpuSlice {
  std::string name;  ///< for example "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
  std::string uuid;
  std::optional<std::uint64_t> memory_bytes = {};
};

/// The facts that NVML reports about a GPU.
struct GpuFacts {
  std::string name;
  std::string uuid;
  std::string bus_id;  ///< for example "0000:65:00.0"
  std::string arch;    ///< such as "sm_89"; empty if NVML does not report it
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::uint64_t> free_bytes = {};
  std::optional<double> sm_clock_mhz = {};
  std::optional<double> most_sm_clock_mhz = {};
  std::optional<double> application_clock_mhz = {};          ///< limit set by nvidia-smi -ac
  std::optional<double> default_application_clock_mhz = {};  ///< default of this limit
  bool held_at_application_clock = false;                    ///< whether this limit holds
                                                             ///< the clock down
  std::optional<ComputeMode> compute_mode = {};
  std::optional<bool> mig = {};  ///< whether MIG splits the GPU; missing on GPUs without MIG
  std::vector<GpuSlice> slices = {};
  std::vector<std::string> processes = {};  ///< processes that compute on the GPU, such as "4711
                                            ///< (python3)"
};

struct NvmlFacts {
  std::string library;  ///< the library's file; empty if there is none
  std::string failure;  ///< why the library reports nothing; empty if it works
  std::string driver;   ///< driver version, such as "550.54.14"
  std::string cuda;     ///< the newest CUDA version that the driver supports, such as "12.4"
  std::vector<GpuFacts> gpus;
};

/// The facts that the CUDA driver reports about a GPU or MIG instance.
struct CudaGpu {
  int ordinal = 0;  ///< N in cuda:N
  std::string name;
  std::string uuid;  ///< the UUID of NVML without the prefix "GPU-" or "MIG-"
  std::string bus_id;
  std::string arch;
  std::uint64_t memory_bytes = 0;
  ComputeMode compute_mode = ComputeMode::kDefault;
};

struct CudaFacts {
  std::string library;
  std::string failure;
  std::string cuda;  ///< CUDA version of the driver, such as "12.4"
  std::vector<CudaGpu> gpus;
};

struct NvrtcFacts {
  std::string library;
  std::string failure;
  std::string version;             ///< for example "nvrtc 13.0"
  std::vector<std::string> archs;  ///< architectures that NVRTC compiles for: "sm_75", …
};

}  // namespace evo
