#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

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

/// Declares the options of evo-init; parsing fills `options`.
void declare(CLI::App& app, InitOptions& options);

}  // namespace evo
