#pragma once

#include <string>

#include "engine/core/error.hpp"
#include "tools/tune/run_options.hpp"

namespace evo {

/// The value of --count for all valid configurations.
inline constexpr const char* kEveryCandidate = "all";
/// The largest number of configurations of a recording.
inline constexpr std::size_t kMostCandidates = 10'000'000;

/// The command line of evo-record.
struct RecordOptions : RunOptions {
  std::string count;               ///< number of configurations, or kEveryCandidate
  std::string out;                 ///< T4 file; empty: none
  std::string kernel_tuner_cache;  ///< file; empty: none
};

/// Times the configurations, stores them in the database and writes the requested files. Returns
/// kNothingGreen if no kernel is green, and kInterrupted after a stop signal. Throws InputError,
/// MissingError or DbError.
[[nodiscard]] ExitCode record(RecordOptions options);

}  // namespace evo
