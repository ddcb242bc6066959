#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Reads the records of runs.
class RunReader {
 public:
  explicit RunReader(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  [[nodiscard]] std::optional<CompilationId> compilation_id(std::string_view key) const;
  /// Throws DbError if there is no such compilation.
  [[nodiscard]] CompilationFacts compilation_facts(CompilationId id) const;

  /// Calls `visit` for each evaluation in the order of generation and position, with only one
  /// evaluation in memory. `visit` may use this database; evaluations recorded meanwhile are not
  /// visited.
  void for_each_evaluation(RunId run, const std::function<void(StoredEvaluation)>& visit) const;
  /// Returns all evaluations in this order.
  [[nodiscard]] std::vector<StoredEvaluation> evaluations(RunId run) const;
  /// Throws DbError if there is no such candidate.
  [[nodiscard]] StoredEvaluation evaluation(CandidateId candidate) const;

  /// Returns the generations in the recorded order.
  [[nodiscard]] std::vector<StoredGeneration> generations(RunId run) const;
  [[nodiscard]] std::vector<StoredEvent> events(RunId run) const;
  /// Returns the times of other implementations, fastest first. compare_pytorch.py writes them.
  [[nodiscard]] std::vector<VendorTime> vendor_times(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
