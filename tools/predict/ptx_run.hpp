#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/error.hpp"

namespace evo {

/// The command line of evo-ptx-run.
struct PtxRunOptions {
  std::string file;
  std::string entry;
  std::string device = "virtual:l4";
  std::vector<std::uint32_t> grid = {1};
  std::vector<std::uint32_t> block = {32};
  std::uint32_t shared = 0;
  std::vector<std::string> arguments;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string save;  ///< folder; empty: none
  bool no_checks = false;
  bool predict = false;
  bool quiet = false;
};

/// Launches the kernel and prints checksums of its outputs, or its defects. Returns the exit code
/// kNothingGreen if there is a defect. Throws InputError, MissingError.
[[nodiscard]] ExitCode ptx_run(const PtxRunOptions& options);

}  // namespace evo
