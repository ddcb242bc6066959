#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/evaluate/workbench.hpp"

namespace evo {

/// A winner of earlier, with its machine code as it was then.
struct StoredWinner {
  std::string origin;  ///< "candidate 53 of run 3 in evo.db", "kernel NAME in bundle DIR"
  std::string config_json;
  CompilationRecord compilation;
  double p50_us = 0;  ///< as it was stored
};

/// The winner that `path`, a database or the folder of a bundle, has for the bench's template,
/// shape and device: of a database the first of the elite of the newest run that measured on such a
/// device, of a bundle the kernel that serves this very shape. Throws InputError or DbError saying
/// what there is.
[[nodiscard]] StoredWinner find_winner(const std::string& path, const Workbench& bench);

/// How the kernel of today compares with it, timed in turn.
struct AgainstStored {
  StoredWinner winner;
  bool same_code = false;  ///< nothing to time: the machine code is the same
  std::optional<PairResult> pair = {};

  /// Beyond doubt.
  [[nodiscard]] bool is_slower() const { return pair && pair->verdict() > 0; }
};

/// `today` must be green. Throws InputError where the stored winner is not right on today's
/// problem, or the two cannot be timed in turn.
[[nodiscard]] AgainstStored compare_with(Workbench& bench, StoredWinner winner,
                                         const Evaluation& today);

/// "ratio 1.002 (0.998 to 1.006): not slower", with what it was compared with.
[[nodiscard]] std::string against_text(const AgainstStored& against);
[[nodiscard]] nlohmann::ordered_json against_json(const AgainstStored& against);

}  // namespace evo
