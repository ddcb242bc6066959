#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Explains winners: the ways from the default and from a milestone to them, and how busy the units
/// of an SM are. Leaves out what belongs to a former winner.
class WinnerWayTable {
 public:
  explicit WinnerWayTable(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  /// Replaces those that are there.
  void record_winner_ways(RunId run, const std::vector<WinnerWay>& ways);
  /// As they were recorded.
  [[nodiscard]] std::vector<WinnerWay> winner_ways(RunId run) const;
  /// Replaces what is there. `percent`: how busy the time model says that each unit is, by Nsight
  /// Compute's name of the metric.
  void record_winner_units(RunId run, CandidateId winner,
                           const std::map<std::string, double>& percent);
  /// Empty where they are not known.
  [[nodiscard]] std::map<std::string, double> winner_units(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
