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

  /// Returns all compilations of one request with their dependencies, newest first, without
  /// artifacts.
  [[nodiscard]] virtual std::vector<CompilationFacts> find_compilation_facts(
      std::string_view request_key) const = 0;
  /// Throws DbError if there is no such compilation.
  [[nodiscard]] virtual CompilationRecord compilation(CompilationId id) const = 0;
  /// Stores a compilation and returns its id. If another process has stored the same key already,
  /// returns the id of that row.
  virtual CompilationId put_compilation(const CompilationRecord& record) = 0;

  // Evaluations and generations

  /// Stores one candidate in the runs of all shapes on which it was judged, in one transaction.
  /// Throws DbError if a record's outcome is not exactly one of green, rejected and duplicate, or
  /// if its position in the generation is taken.
  virtual std::vector<CandidateId> record_evaluations(
      const std::vector<RunEvaluation>& evaluations) = 0;
  /// Replaces the screening's checks of a green candidate by all checks.
  virtual void record_full_checks(CandidateId candidate,
                                  const std::vector<CheckResult>& checks) = 0;
  /// Stores the energy of a green candidate. Replaces an earlier value.
  virtual void record_energy(CandidateId candidate, const Energy& energy) = 0;
  virtual void record_profile(CandidateId candidate, const ProfileRecord& profile) = 0;
  /// Replaces the record of the same generation, if any: a time limit may have ended the run in the
  /// middle of the generation.
  virtual void record_generation(RunId run, const GenerationRecord& record) = 0;
  virtual void record_confirmation(RunId run, const ConfirmationRecord& record) = 0;
  [[nodiscard]] virtual std::vector<ConfirmationRecord> confirmations(RunId run) const = 0;
  /// Throws DbError unless the candidate belongs to the run, is green and is no duplicate.
  virtual void record_withdrawal(RunId run, const WithdrawalRecord& record) = 0;
  [[nodiscard]] virtual std::vector<WithdrawalRecord> withdrawals(RunId run) const = 0;
  virtual void record_event(RunId run, std::string_view kind, std::string_view text) = 0;
};

}  // namespace evo
