#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evo {

/// `evo-predict rank`.
struct RankArguments {
  std::string space;
  std::string recording;
  std::string device = "virtual:h200";
  std::string shape;
  std::string json;                   ///< file; empty: none
  std::string figure;                 ///< of the device, to be varied; empty: none
  std::vector<double> figure_values;  ///< that it takes
  std::size_t count = 100;
  std::uint64_t seed = 1;
  int threads = 2;
};

/// `evo-predict explain`.
struct ExplainArguments {
  std::string space;
  std::string device = "virtual:h200";
  std::string shape;
  std::string milestone;
  std::vector<std::string> settings;
  std::size_t lines = 15;
  bool json = false;
};

/// Predicts recorded candidates and prints how well that ranks them. Throws InputError.
void rank_recorded(const RankArguments& arguments);

/// Prints what one candidate waits for, by line of its source. Throws InputError.
void explain(const ExplainArguments& arguments);

}  // namespace evo
