#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

/// The progress of a run, for displays.
struct RunProgress {
  int generation = 0;
  int generations = 0;
  std::size_t evaluated = 0;
  std::size_t recorded = 0;     ///< candidates that an interrupted run had already recorded
  std::size_t to_evaluate = 0;  ///< limit on the candidates of the whole run
  std::size_t green = 0;
  std::size_t duplicates = 0;
  std::size_t unjudged = 0;
  std::size_t in_flight = 0;      ///< candidates whose evaluation has not ended
  std::size_t max_in_flight = 0;  ///< limit of `in_flight`
  std::size_t left_out = 0;       ///< green kernels not compared with the elite for lack of time
  std::map<Gate, std::size_t> rejected;
  /// The fastest time of a green kernel on a shape; 0 if there is none yet.
  struct Best {
    std::string shape;
    double us = 0;
  };
  std::vector<Best> best;
  double elapsed_s = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::optional<double> control_drift = {};  ///< the last known drift of the control's time

  /// Counts a candidate by its outcome. `record`: its record on any shape, because all shapes have
  /// the same outcome.
  void count(const EvaluationRecord& record);
};

}  // namespace evo
