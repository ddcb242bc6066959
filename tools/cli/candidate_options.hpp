#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/space/space.hpp"

namespace evo {

/// The options that select a configuration of a space.
struct CandidateOptions {
  std::string milestone = {};  ///< empty: the defaults
  std::vector<std::string> settings = {};

  /// Declares --set and --milestone.
  void declare(CLI::App& app);

  [[nodiscard]] bool any() const { return !milestone.empty() || !settings.empty(); }

  /// The candidate with the values of `settings`, and else of the milestone. Throws InputError
  /// naming the option and the allowed values, and SpaceError for a candidate that violates a
  /// constraint.
  [[nodiscard]] Candidate candidate(const Space& space) const;
};

}  // namespace evo
