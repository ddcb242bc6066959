#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Stores explanations of a run's winner: the paths to it from the default configuration and from a
/// milestone, and the utilisation of an SM's units. Does not return data of a former winner.
class WinnerWayTable {
 public:
  explicit WinnerWayTable(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  /// Stores the paths of a run, and deletes its earlier paths.
  void record_winner_ways(RunId run, const std::vector<WinnerWay>& ways);
  /// Returns the paths as they were stored.
  [[nodiscard]] std::vector<WinnerWay> winner_ways(RunId run) const;
  /// Stores the utilisation of each unit in the time model, and deletes earlier values. `percent`:
  /// by Nsight Compute's name of the metric.
  void record_winner_units(RunId run, CandidateId winner,
                           const std::map<std::string, double>& percent);
  /// Returns the stored utilisations; empty if there are none.
  [[nodiscard]] std::map<std::string, double> winner_units(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
