#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/device/device_files.hpp"
#include "engine/worker/survey.hpp"
#include "tools/doctor/host_facts.hpp"

namespace evo {

/// The resources that a run without options would use.
struct DefaultRun {
  std::size_t compilers = 0;
  std::uint64_t compiler_bytes = 0;  ///< memory limit of each compiler
  std::string space = {};            ///< file of the shipped space for the device; empty if none
  std::string no_space = {};         ///< why there is no space
};

/// All facts that the doctor examines.
struct Machine {
  std::string version;  ///< version of evo-tune
  HostFacts host;
  MachineSurvey survey;
  std::vector<DeviceFile> files;
  std::string visible = {};  ///< CUDA_VISIBLE_DEVICES; empty if unset
  std::filesystem::path ncu_path = {};
  std::string ncu_version = {};  ///< "ncu 2025.3.1.0"
  std::string ncu_failure = {};  ///< why an existing ncu does not tell its version
  DefaultRun run;

  /// The device that a run without options opens; null if there is none.
  [[nodiscard]] const DeviceInfo* device() const { return std::get_if<DeviceInfo>(&survey.device); }
};

/// Collects all facts. Only child processes open the driver, each for at most 30 s.
[[nodiscard]] Machine examine_machine();

}  // namespace evo
