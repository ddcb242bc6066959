#pragma once

#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/intake/intake.hpp"

namespace evo {

/// The command line of evo-init.
struct InitOptions {
  IntakeRequest request;
  std::vector<std::string> parameters;
  std::vector<std::string> entries;
  std::vector<std::string> grids;
  std::vector<std::string> blocks;
  std::vector<std::string> shared;
  std::vector<std::string> renamed;
  std::vector<std::string> sizes;
  std::vector<std::string> values;
  std::vector<std::string> extents;
  std::vector<std::string> inputs;
  std::string out = ".";
  bool force = false;
  unsigned compile_seconds = 300;
};

/// Writes the drafts; prints the facts found in the code and the parts that the user must write.
/// Throws InputError.
[[nodiscard]] ExitCode init(InitOptions options);

}  // namespace evo
