#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "db/records.hpp"

namespace evo {

/// An evaluation, and the run that it belongs to.
struct RunEvaluation {
  RunId run = 0;
  EvaluationRecord record;
};

/// What a run reads and writes while it goes on: the boundary to the database. Every method that
/// writes is one transaction. Failures are DbErrors.
class RunStore {
 public:
  virtual ~RunStore() = default;

  // Compilations

  /// All that came out of one request, with dependencies, newest first, without their texts.
  [[nodiscard]] virtual std::vector<CompilationFacts> find_compilation_facts(
      std::string_view request_key) const = 0;
  /// Throws DbError when there is no such compilation.
  [[nodiscard]] virtual CompilationRecord compilation(CompilationId id) const = 0;
  /// Keeps what is there when the key is known already (another process was first); returns its id.
  virtual CompilationId put_compilation(const CompilationRecord& record) = 0;

  // Evaluations and generations

  /// One candidate in the runs of all shapes that it was judged on: all of it or nothing. Throws
  /// DbError when a record's outcome is not exactly one of green, rejected and duplicate, or when
  /// its place in the generation is taken.
  virtual std::vector<CandidateId> record_evaluations(
      const std::vector<RunEvaluation>& evaluations) = 0;
  /// All checks of a green candidate, in place of those of its screening.
  virtual void record_full_checks(CandidateId candidate,
                                  const std::vector<CheckResult>& checks) = 0;
  /// Of a green candidate, in place of what was known.
  virtual void record_energy(CandidateId candidate, const Energy& energy) = 0;
  virtual void record_profile(CandidateId candidate, const ProfileRecord& profile) = 0;
  /// In place of the one that is there, if any: of a run that was out of time and is extended.
  virtual void record_generation(RunId run, const GenerationRecord& record) = 0;
  virtual void record_confirmation(RunId run, const ConfirmationRecord& record) = 0;
  [[nodiscard]] virtual std::vector<ConfirmationRecord> confirmations(RunId run) const = 0;
  /// Throws DbError unless the candidate is a green, first one of that run.
  virtual void record_withdrawal(RunId run, const WithdrawalRecord& record) = 0;
  [[nodiscard]] virtual std::vector<WithdrawalRecord> withdrawals(RunId run) const = 0;
  virtual void record_event(RunId run, std::string_view kind, std::string_view text) = 0;
};

}  // namespace evo
