#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Stores explanations of winners: the paths to them from the default and from a milestone, and the
/// utilisation of an SM's units. Excludes data of a former winner.
class WinnerWayTable {
 public:
  explicit WinnerWayTable(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  /// Replaces existing paths.
  void record_winner_ways(RunId run, const std::vector<WinnerWay>& ways);
  /// In the recorded form.
  [[nodiscard]] std::vector<WinnerWay> winner_ways(RunId run) const;
  /// Replaces existing values. `percent`: the utilisation of each unit in the time model, by Nsight
  /// Compute's name of the metric.
  void record_winner_units(RunId run, CandidateId winner,
                           const std::map<std::string, double>& percent);
  /// Empty if unknown.
  [[nodiscard]] std::map<std::string, double> winner_units(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
