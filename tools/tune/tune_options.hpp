#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/tune/elite_gates.hpp"
#include "tools/tune/run_options.hpp"

namespace evo {

/// The command line of evo-tune.
struct TuneOptions : RunOptions {
  EliteLook elite;  ///< measurements of the elite in addition to times
  std::string interpret = "auto";
  std::string explain = "auto";
  std::size_t time_policy_rejects = 0;
  bool warm_start = true;
  bool has_offspring = false;
  bool doctor_json = false;
};

inline constexpr const char* kTuneDescription =
    "evo-tune: evolves the macros of a CUDA kernel template on your GPU.\n"
    "Candidates are compiled, checked and timed. Without a GPU, kernels run "
    "on a virtual GPU: correctness is judged, times are predicted.";

/// Declares the options of evo-tune and its commands; parsing fills `options`.
void declare(CLI::App& app, TuneOptions& options);

/// Returns the values that completion and messages list for the options of evo-tune.
[[nodiscard]] ValueLists tune_value_lists();

}  // namespace evo
