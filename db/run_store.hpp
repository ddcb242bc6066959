#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "db/records.hpp"

namespace evo {

/// An evaluation, and its run.
struct RunEvaluation {
  RunId run = 0;
  EvaluationRecord record;
};

/// The interface to the database during a run. Every method that writes is one transaction.
/// Failures are DbErrors.
class RunStore {
 public:
  virtual ~RunStore() = default;

  // Compilations

  /// All results of one request, with dependencies, newest first, without their texts.
  [[nodiscard]] virtual std::vector<CompilationFacts> find_compilation_facts(
      std::string_view request_key) const = 0;
  /// Throws DbError if there is no such compilation.
  [[nodiscard]] virtual CompilationRecord compilation(CompilationId id) const = 0;
  /// Returns the id. If the key exists already, because another process was first, keeps the
  /// existing row.
  virtual CompilationId put_compilation(const CompilationRecord& record) = 0;

  // Evaluations and generations

  /// Stores one candidate in the runs of all shapes on which it was judged, completely or not at
  /// all. Throws DbError if a record's outcome is not exactly one of green, rejected and duplicate,
  /// or if its position in the generation is taken.
  virtual std::vector<CandidateId> record_evaluations(
      const std::vector<RunEvaluation>& evaluations) = 0;
  /// Replaces the screening's checks of a green candidate by all checks.
  virtual void record_full_checks(CandidateId candidate,
                                  const std::vector<CheckResult>& checks) = 0;
  /// For a green candidate; replaces the known value.
  virtual void record_energy(CandidateId candidate, const Energy& energy) = 0;
  virtual void record_profile(CandidateId candidate, const ProfileRecord& profile) = 0;
  /// Replaces the existing one, if any: a time limit ended the run, which is now extended.
  virtual void record_generation(RunId run, const GenerationRecord& record) = 0;
  virtual void record_confirmation(RunId run, const ConfirmationRecord& record) = 0;
  [[nodiscard]] virtual std::vector<ConfirmationRecord> confirmations(RunId run) const = 0;
  /// Throws DbError unless the candidate is a green one of that run and no duplicate.
  virtual void record_withdrawal(RunId run, const WithdrawalRecord& record) = 0;
  [[nodiscard]] virtual std::vector<WithdrawalRecord> withdrawals(RunId run) const = 0;
  virtual void record_event(RunId run, std::string_view kind, std::string_view text) = 0;
};

}  // namespace evo
