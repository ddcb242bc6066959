#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/device/device_files.hpp"
#include "engine/worker/survey.hpp"
#include "tools/doctor/host_facts.hpp"

namespace evo {

/// The means that a run without options would use.
struct DefaultRun {
  std::size_t compilers = 0;
  std::uint64_t compiler_bytes = 0;  ///< memory of each
  std::string space = {};            ///< its file; empty where there is none
  std::string no_space = {};         ///< why
};

/// All that the doctor looks at.
struct Machine {
  std::string version;  ///< of evo-tune
  HostFacts host;
  MachineSurvey survey;
  std::vector<DeviceFile> files;
  std::string visible = {};  ///< CUDA_VISIBLE_DEVICES; empty where it is not set
  std::filesystem::path ncu_path = {};
  std::string ncu_version = {};  ///< "ncu 2025.3.1.0"
  std::string ncu_failure = {};  ///< why its version is not known though it is there
  DefaultRun run;

  /// The device that a default run opens; null where it opens none.
  [[nodiscard]] const DeviceInfo* device() const { return std::get_if<DeviceInfo>(&survey.device); }
};

/// Asks everything. Only processes of their own touch the driver, each for half a minute at most.
[[nodiscard]] Machine examine_machine();

}  // namespace evo
