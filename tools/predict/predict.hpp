#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evo {

/// The command line of `evo-predict rank`.
struct RankArguments {
  std::string space;
  std::string recording;
  std::string device = "virtual:h200";
  std::string shape;
  std::string json;                   ///< file; empty: none
  std::string figure;                 ///< constant of the time model to vary; empty: none
  std::vector<double> figure_values;  ///< values of `figure` to try
  std::size_t count = 100;
  std::uint64_t seed = 1;
  int threads = 2;
};

/// The command line of `evo-predict explain`.
struct ExplainArguments {
  std::string space;
  std::string device = "virtual:h200";
  std::string shape;
  std::string milestone;
  std::vector<std::string> settings;
  std::size_t lines = 15;
  bool json = false;
};

/// Predicts the times of recorded candidates, and prints how well the times rank the candidates.
/// Throws InputError.
void rank_recorded(const RankArguments& arguments);

/// Prints why the warps of one candidate's kernel wait, by source line. Throws InputError.
void explain(const ExplainArguments& arguments);

}  // namespace evo
