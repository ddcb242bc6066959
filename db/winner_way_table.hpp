#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Stores explanations of a run's winner: the paths to the winner from the default configuration
/// and from the first green milestone, and the winner's utilisation of the units of an SM. If the
/// run has a new winner, stored data of the former winner are not returned.
class WinnerWayTable {
 public:
  explicit WinnerWayTable(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  /// Stores the paths to the winner of a run, and deletes earlier paths of the run.
  void record_winner_ways(RunId run, const std::vector<WinnerWay>& ways);
  /// Returns the stored paths to the winner of a run, each with its steps in order.
  [[nodiscard]] std::vector<WinnerWay> winner_ways(RunId run) const;
  /// Stores the utilisation of each unit of an SM that the time model predicts, and deletes earlier
  /// values of the run. `percent`: the utilisation by Nsight Compute's name of the metric.
  void record_winner_units(RunId run, CandidateId winner,
                           const std::map<std::string, double>& percent);
  /// Returns the stored utilisation by Nsight Compute's name of the metric; empty if there is none.
  [[nodiscard]] std::map<std::string, double> winner_units(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
