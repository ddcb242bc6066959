#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace evo {

/// A folder that a run writes to.
struct FolderFacts {
  std::filesystem::path path;
  std::optional<std::uint64_t> free_bytes = {};  ///< missing if the system does not report it
  bool writable = false;
  std::string failure = {};  ///< why there is no such folder
};

/// Facts from the operating system, without any NVIDIA library.
struct HostFacts {
  std::size_t cores = 0;         ///< cores of the machine
  std::size_t usable_cores = 0;  ///< cores that this process may use (affinity)
  /// the control group's limit of CPU time as a number of processors, for example 1.5
  std::optional<double> core_limit = {};
  std::uint64_t memory_bytes = 0;                  ///< installed memory
  std::uint64_t available_bytes = 0;               ///< available without swapping
  std::optional<std::uint64_t> memory_limit = {};  ///< the control group's limit
  FolderFacts folder;                              ///< the working folder
  FolderFacts temporary;                           ///< the folder for temporary files
  bool mps_runs = false;                           ///< whether NVIDIA's multi-process service runs
  /// Whether the driver lets only root read performance counters; empty without a driver.
  std::optional<bool> counters_for_root = {};
  bool is_root = false;
  /// version of the driver's kernel module; empty if none is loaded
  std::string kernel_module = {};
  std::size_t pci_gpus = 0;  ///< NVIDIA GPUs on the PCI bus, with or without a driver
};

/// Reads the facts from the files below `root` instead of /, except `cores`, `usable_cores`,
/// `is_root` and the facts about the two folders. Never throws; unknown facts stay empty.
[[nodiscard]] HostFacts read_host_facts(const std::filesystem::path& root);

}  // namespace evo
