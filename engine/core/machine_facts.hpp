#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Facts of a machine, as the libraries of NVIDIA's driver and NVRTC tell them. An optional figure
// is missing where a library or a card does not tell it.

namespace evo {

/// How many processes may use a card; the numbers are those of NVML and of the CUDA driver.
enum class ComputeMode {
  kDefault = 0,
  kExclusiveThread = 1,
  kProhibited = 2,
  kExclusiveProcess = 3,
};

/// "default", "exclusive process".
[[nodiscard]] std::string to_string(ComputeMode mode);

/// A MIG instance: a part of a card that CUDA sees as a card of its own.
struct CardSlice {
  std::string name;  ///< "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
  std::string uuid;
  std::optional<std::uint64_t> memory_bytes = {};
};

/// A card as NVML tells of it.
struct CardFacts {
  std::string name;
  std::string uuid;
  std::string bus_id;  ///< "0000:65:00.0"
  std::string arch;    ///< "sm_89"; empty where NVML does not tell
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::uint64_t> free_bytes = {};
  std::optional<double> sm_clock_mhz = {};
  std::optional<double> most_sm_clock_mhz = {};
  std::optional<double> application_clock_mhz = {};          ///< as set now
  std::optional<double> default_application_clock_mhz = {};  ///< as the card comes
  bool held_at_application_clock = false;                    ///< at this moment
  std::optional<ComputeMode> compute_mode = {};
  std::optional<bool> mig = {};  ///< cut into slices; missing on cards without MIG
  std::vector<CardSlice> slices = {};
  std::vector<std::string> processes = {};  ///< "4711 (python3)", those that compute
};

struct NvmlFacts {
  std::string library;  ///< its file; empty without one
  std::string failure;  ///< why it tells nothing; empty where it works
  std::string driver;   ///< "550.54.14"
  std::string cuda;     ///< what the driver serves: "12.4"
  std::vector<CardFacts> cards;
};

/// A card, or the slice of one, as the CUDA driver tells of it.
struct CudaCard {
  int ordinal = 0;  ///< N of cuda:N
  std::string name;
  std::string uuid;  ///< without what stands before it in NVML's, "GPU-" or "MIG-"
  std::string bus_id;
  std::string arch;
  std::uint64_t memory_bytes = 0;
  ComputeMode compute_mode = ComputeMode::kDefault;
};

struct CudaFacts {
  std::string library;
  std::string failure;
  std::string cuda;  ///< "12.4"
  std::vector<CudaCard> cards;
};

struct NvrtcFacts {
  std::string library;
  std::string failure;
  std::string version;             ///< "nvrtc 13.0"
  std::vector<std::string> archs;  ///< that it compiles for: "sm_75", …
};

}  // namespace evo
