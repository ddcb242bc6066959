#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/evaluate/workbench.hpp"

namespace evo {

/// A stored winner with its machine code.
struct StoredWinner {
  std::string origin;  ///< "candidate 53 of run 3 in evo.db", "kernel NAME in bundle DIR"
  std::string config_json;
  CompilationRecord compilation;
  double p50_us = 0;  ///< the stored time
};

/// Finds the stored winner for the template, shape and device architecture of `bench`. `path`: a
/// database or a bundle's folder. From a database, returns the winner of the newest run that was
/// measured on this architecture; from a bundle, the kernel for exactly this shape. Throws
/// InputError or DbError if there is none, or if `path` cannot be read.
[[nodiscard]] StoredWinner find_winner(const std::string& path, const Workbench& bench);

/// The comparison of the kernel under test with a stored winner, timed in turn.
struct AgainstStored {
  StoredWinner winner;
  bool same_code = false;  ///< the machine code is the same, so nothing is timed
  std::optional<PairResult> pair = {};

  /// Whether the kernel under test is significantly slower than the stored winner.
  [[nodiscard]] bool is_slower() const { return pair && pair->verdict() > 0; }
};

/// Compares the kernel of `today`, which must be green, with the stored winner. Throws InputError
/// if the stored winner gives wrong results for the current problem, or if the two kernels cannot
/// be timed in turn.
[[nodiscard]] AgainstStored compare_with(Workbench& bench, StoredWinner winner,
                                         const Evaluation& today);

/// The comparison as text: the stored winner, both times, the ratio with its interval, and the
/// verdict.
[[nodiscard]] std::string against_text(const AgainstStored& against);
[[nodiscard]] nlohmann::ordered_json against_json(const AgainstStored& against);

}  // namespace evo
