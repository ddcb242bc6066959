#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/candidate_options.hpp"

namespace evo {

inline constexpr const char* kDefaultModel = "virtual:h200";

/// The options that `evo-predict rank` and `evo-predict explain` share.
struct PredictionSubject {
  std::string space;
  std::string device = kDefaultModel;
  std::string shape;  ///< empty: the space's
};

/// The command line of `evo-predict rank`.
struct RankArguments : PredictionSubject {
  std::string recording;
  std::string json;                   ///< file; empty: none
  std::string figure;                 ///< constant of the time model to vary; empty: none
  std::vector<double> figure_values;  ///< values of `figure` to try
  std::size_t count = 100;
  std::uint64_t seed = 1;
  int threads = 2;
};

/// The command line of `evo-predict explain`.
struct ExplainArguments : PredictionSubject {
  CandidateOptions candidate;
  std::size_t lines = 15;
  bool json = false;
};

/// Predicts the times of recorded candidates, and prints how well the times rank the candidates. If
/// `arguments.device` is empty, predicts for the virtual GPU of the recorded model, or else for
/// kDefaultModel. Throws InputError.
void rank_recorded(RankArguments arguments);

/// Prints why the warps of one candidate's kernel wait, by source line. Throws InputError.
void explain(const ExplainArguments& arguments);

}  // namespace evo
