#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/run/run_setup.hpp"
#include "engine/run/tuner_options.hpp"
#include "tools/tune/session_options.hpp"

namespace evo {

/// The common options of evo-tune and evo-record.
struct RunOptions {
  SessionOptions session;
  TunerOptions tuner;
  std::string db = "evo.db";
  std::optional<Resumption> resume = {};
  RunId resume_run = 0;
  std::uint64_t check_seed = 0;  ///< seed of the inputs of the checks; 0: a new seed
  bool json = false;
  bool quiet = false;

  /// Declares --check-seed, --max-seconds, --db and --resume.
  void declare_run(CLI::App& app);
  /// Declares --json, --quiet and --version for the program `name`.
  void declare_output(CLI::App& app, const std::string& name);
  /// Opens the database of --db, and creates it if it is missing. Throws InputError, without
  /// creating it, if --space cannot be read, or if there is no run to resume.
  [[nodiscard]] Store open_store() const;
  /// Sets `resume` if the command line that `app` parsed contains --resume.
  void take_resumption(const CLI::App& app);
};

}  // namespace evo
