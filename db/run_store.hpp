#pragma once

#include <string_view>
#include <vector>

#include "db/records.hpp"

namespace evo {

/// The interface through which a run stores its results and reads them again. Each method that
/// writes makes one transaction. A failure is a DbError, or an Error with ExitCode::kInterrupted if
/// a signal ended a wait for the database.
class RunStore {
 public:
  virtual ~RunStore() = default;

  // Compilations

  /// Returns all stored compilations with this CompilationFacts::request_key, newest first, with
  /// their dependencies.
  [[nodiscard]] virtual std::vector<CompilationFacts> find_compilation_facts(
      std::string_view request_key) const = 0;
  /// Throws DbError if the database has no compilation `id`.
  [[nodiscard]] virtual CompilationRecord compilation(CompilationId id) const = 0;
  /// Stores a compilation and returns its id. If a compilation with the same key is stored already,
  /// returns the id of that compilation.
  virtual CompilationId put_compilation(const CompilationRecord& record) = 0;

  // Evaluations and generations

  /// Stores one candidate in the runs of all shapes on which it was judged, in one transaction,
  /// without `withdrawal`, `elite_energy` and `profile`, which have their own methods.
  /// Throws DbError if a record is a duplicate but also has a timing or a rejection, if it is a
  /// duplicate of a candidate of another run, or if the run already has a candidate at this
  /// position of the generation. Returns the ids in the order of `records`.
  virtual std::vector<CandidateId> record_evaluations(
      const std::vector<EvaluationRecord>& records) = 0;
  /// Replaces the stored quick check of a green candidate by its full check.
  virtual void record_full_checks(CandidateId candidate,
                                  const std::vector<CheckResult>& checks) = 0;
  /// Stores the energy of a candidate from a long measurement. Replaces an earlier value. Throws
  /// DbError if the candidate has no stored timing.
  virtual void record_energy(CandidateId candidate, const Energy& energy) = 0;
  /// Stores a candidate's result at the profile gate. Replaces an earlier result. Throws DbError if
  /// the candidate has no stored timing.
  virtual void record_profile(CandidateId candidate, const ProfileRecord& profile) = 0;
  /// Stores a generation. Replaces a stored record of the same generation, which exists, for
  /// example, if a time limit ended the run in the middle of the generation and the run was then
  /// extended. Throws DbError unless each member of the elite is a green candidate of the run and
  /// no duplicate.
  virtual void record_generation(RunId run, const GenerationRecord& record) = 0;
  virtual void record_comparison(RunId run, const ComparisonRecord& record) = 0;
  [[nodiscard]] virtual std::vector<ComparisonRecord> comparisons(RunId run) const = 0;
  /// Stores a withdrawal. Throws DbError unless the candidate is green, belongs to the run and is
  /// no duplicate.
  virtual void record_withdrawal(RunId run, const WithdrawalRecord& record) = 0;
  [[nodiscard]] virtual std::vector<WithdrawalRecord> withdrawals(RunId run) const = 0;
  virtual void record_event(RunId run, std::string_view kind, std::string_view text) = 0;
};

}  // namespace evo
