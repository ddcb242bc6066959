#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace evo {

/// A folder that a run writes to.
struct FolderFacts {
  std::filesystem::path path;
  std::optional<std::uint64_t> free_bytes = {};  ///< missing where the system does not tell
  bool writable = false;
  std::string failure = {};  ///< why there is no such folder
};

/// Facts that the operating system tells, without any library of NVIDIA's.
struct HostFacts {
  std::size_t cores = 0;                           ///< of the machine
  std::size_t usable_cores = 0;                    ///< by the affinity of this process
  std::optional<double> core_limit = {};           ///< of the control group: 1.5 is one and a half
  std::uint64_t memory_bytes = 0;                  ///< of the machine
  std::uint64_t available_bytes = 0;               ///< without swapping
  std::optional<std::uint64_t> memory_limit = {};  ///< of the control group
  FolderFacts folder;                              ///< the current one
  FolderFacts temporary;                           ///< for temporary files
  bool mps_runs = false;                           ///< the multi-process service of NVIDIA's driver
  /// Whether the driver lets only root read performance counters; missing without a driver.
  std::optional<bool> counters_for_root = {};
  bool is_root = false;
  std::string kernel_module = {};  ///< version of the driver's; empty where none is loaded
  std::size_t pci_cards = 0;       ///< NVIDIA's on the PCI bus, with a driver or without
};

/// Never throws for what the machine says: what it does not say is missing. `root` stands for /,
/// but not for the two folders.
[[nodiscard]] HostFacts read_host_facts(const std::filesystem::path& root);

}  // namespace evo
