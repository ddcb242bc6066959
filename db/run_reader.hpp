#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Reads what the database holds about runs and compilations.
class RunReader {
 public:
  explicit RunReader(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  [[nodiscard]] std::optional<CompilationId> compilation_id(std::string_view key) const;
  /// Throws DbError if the database has no compilation `id`.
  [[nodiscard]] CompilationFacts compilation_facts(CompilationId id) const;

  /// Calls `visit` for each evaluation of a run in the order of generation and position. Only one
  /// evaluation is in memory at a time. `visit` may use this database; evaluations that are
  /// recorded after the call began are not visited.
  void for_each_evaluation(RunId run, const std::function<void(EvaluationRecord)>& visit) const;
  /// Returns all evaluations of a run in the order of generation and position.
  [[nodiscard]] std::vector<EvaluationRecord> evaluations(RunId run) const;
  /// Throws DbError if the database does not have the candidate.
  [[nodiscard]] EvaluationRecord evaluation(CandidateId candidate) const;

  /// Returns the generations of a run in the order of their numbers.
  [[nodiscard]] std::vector<StoredGeneration> generations(RunId run) const;
  [[nodiscard]] std::vector<StoredEvent> events(RunId run) const;
  /// Returns the times of other implementations, which compare_pytorch.py stores, fastest first.
  [[nodiscard]] std::vector<VendorTime> vendor_times(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
