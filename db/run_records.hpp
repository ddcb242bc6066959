#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "db/run_store.hpp"

namespace evo {

class Connection;

/// Implements RunStore with the database.
class RunRecords : public RunStore {
 public:
  explicit RunRecords(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  [[nodiscard]] std::vector<CompilationFacts> find_compilation_facts(
      std::string_view request_key) const override;
  [[nodiscard]] CompilationRecord compilation(CompilationId id) const override;
  CompilationId put_compilation(const CompilationRecord& record) override;

  /// Stores an evaluation of a candidate in a run, and returns the candidate's id.
  CandidateId record_evaluation(RunId run, EvaluationRecord record) {
    record.run = run;
    return record_evaluations({std::move(record)}).front();
  }
  std::vector<CandidateId> record_evaluations(
      const std::vector<EvaluationRecord>& records) override;
  void record_full_checks(CandidateId candidate, const std::vector<CheckResult>& checks) override;
  void record_energy(CandidateId candidate, const Energy& energy) override;
  void record_profile(CandidateId candidate, const ProfileRecord& profile) override;

  void record_generation(RunId run, const GenerationRecord& record) override;
  void record_comparison(RunId run, const ComparisonRecord& record) override;
  [[nodiscard]] std::vector<ComparisonRecord> comparisons(RunId run) const override;
  void record_withdrawal(RunId run, const WithdrawalRecord& record) override;
  [[nodiscard]] std::vector<WithdrawalRecord> withdrawals(RunId run) const override;
  void record_event(RunId run, std::string_view kind, std::string_view text) override;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
