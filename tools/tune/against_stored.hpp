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
  double p50_us = 0;  ///< as it was stored
};

/// The winner in `path`, a database or a bundle's folder, for the template, shape and device of
/// `bench`. From a database: the winner of the newest run that was measured on such a device. From
/// a bundle: the kernel for exactly this shape. Throws InputError or DbError that lists the
/// available winners.
[[nodiscard]] StoredWinner find_winner(const std::string& path, const Workbench& bench);

/// The comparison of today's kernel with the stored winner, timed in turn.
struct AgainstStored {
  StoredWinner winner;
  bool same_code = false;  ///< no timing needed, because the machine code is the same
  std::optional<PairResult> pair = {};

  /// Whether today's kernel is significantly slower.
  [[nodiscard]] bool is_slower() const { return pair && pair->verdict() > 0; }
};

/// Compares the kernel of `today`, which must be green, with `winner`. Throws InputError if the
/// stored winner gives wrong results for today's problem, or if the two cannot be timed in turn.
[[nodiscard]] AgainstStored compare_with(Workbench& bench, StoredWinner winner,
                                         const Evaluation& today);

/// The result as text: "ratio 1.002 (0.998 to 1.006): not slower", and the stored winner's name.
[[nodiscard]] std::string against_text(const AgainstStored& against);
[[nodiscard]] nlohmann::ordered_json against_json(const AgainstStored& against);

}  // namespace evo
