#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.hpp"
#include "db/run_store.hpp"

namespace evo {

class Connection;
struct WaitOptions;

/// The database of runs. Constructed means open, ours and of this version. Every method that writes
/// is one transaction: it happens as a whole or not at all, also when the process is killed or the
/// disk is full. Several processes may write to one database at once; a writer waits for the
/// others. Every failure is a DbError naming the file. Not thread-safe: one Store a thread.
class Store final : public RunStore {
 public:
  /// Opens for reading and writing; creates the file when it is missing or empty, upgrades an older
  /// version. Throws DbError for a database of another program or of a newer version.
  [[nodiscard]] static Store open(const std::filesystem::path& file);
  /// The same, and how to wait, then and later, while other processes have the file locked.
  [[nodiscard]] static Store open_waiting(const std::filesystem::path& file,
                                          const WaitOptions& wait);
  /// Never creates or changes anything; a missing file is a DbError. Works in read-only folders.
  [[nodiscard]] static Store open_read_only(const std::filesystem::path& file);
  /// A database that lives as long as the object; for tests.
  [[nodiscard]] static Store in_memory();

  ~Store() override;
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Runs --------------------------------------------------------------------------------------

  RunId start_run(const RunInfo& info);
  /// Those of one search over several shapes, all or none.
  std::vector<RunId> start_runs(const std::vector<RunInfo>& infos);
  /// The run and those that were started with it, for the other shapes, in that order.
  [[nodiscard]] std::vector<RunId> runs_beside(RunId run) const;
  /// Takes over a run that is not finished, or goes on with a finished one; with other options,
  /// unless they are empty. Throws DbError when there is no such run or another live process is
  /// writing it.
  StoredRun resume_run(RunId run, const std::string& options_json = {});
  void finish_run(RunId run, RunStatus status);
  /// The newest run that was interrupted, failed or killed, on the same content of space and
  /// problem, the same shapes, the same device (name and kind) and the same aim (of its options),
  /// and that no live process is writing.
  [[nodiscard]] std::optional<RunId> find_resumable(const RunInfo& like) const;
  /// Oldest first.
  [[nodiscard]] std::vector<StoredRun> runs() const;
  /// Throws DbError, listing the runs there are, when there is no such run.
  [[nodiscard]] StoredRun run(RunId run) const;

  // Compilations ------------------------------------------------------------------------------

  [[nodiscard]] std::optional<CompilationRecord> find_compilation(std::string_view key) const;
  [[nodiscard]] std::vector<CompilationFacts> find_compilation_facts(
      std::string_view request_key) const override;
  /// The same with their texts.
  [[nodiscard]] std::vector<CompilationRecord> find_compilations(
      std::string_view request_key) const;
  [[nodiscard]] std::optional<CompilationId> compilation_id(std::string_view key) const;
  [[nodiscard]] CompilationFacts compilation_facts(CompilationId id) const;
  [[nodiscard]] CompilationRecord compilation(CompilationId id) const override;
  CompilationId put_compilation(const CompilationRecord& record) override;

  // Evaluations -------------------------------------------------------------------------------

  /// One alone.
  CandidateId record_evaluation(RunId run, const EvaluationRecord& record);
  std::vector<CandidateId> record_evaluations(
      const std::vector<RunEvaluation>& evaluations) override;
  void record_full_checks(CandidateId candidate, const std::vector<CheckResult>& checks) override;
  void record_energy(CandidateId candidate, const Energy& energy) override;
  void record_profile(CandidateId candidate, const ProfileRecord& profile) override;
  /// The first evaluation of that kernel in the run.
  [[nodiscard]] std::optional<CandidateId> find_kernel(RunId run,
                                                       std::string_view kernel_key) const;
  /// Calls `visit` with one evaluation after the other, in the order of generation and position.
  /// Holds no more than one in memory. `visit` may use this store; what is recorded meanwhile is
  /// not visited.
  void for_each_evaluation(RunId run, const std::function<void(StoredEvaluation)>& visit) const;
  /// The same, all at once.
  [[nodiscard]] std::vector<StoredEvaluation> evaluations(RunId run) const;
  /// Throws DbError when there is no such candidate.
  [[nodiscard]] StoredEvaluation evaluation(CandidateId candidate) const;

  // Generations and events --------------------------------------------------------------------

  void record_generation(RunId run, const GenerationRecord& record) override;
  /// In order.
  [[nodiscard]] std::vector<StoredGeneration> generations(RunId run) const;
  void record_confirmation(RunId run, const ConfirmationRecord& record) override;
  [[nodiscard]] std::vector<ConfirmationRecord> confirmations(RunId run) const override;
  void record_withdrawal(RunId run, const WithdrawalRecord& record) override;
  [[nodiscard]] std::vector<WithdrawalRecord> withdrawals(RunId run) const override;
  void record_event(RunId run, std::string_view kind, std::string_view text) override;
  [[nodiscard]] std::vector<StoredEvent> events(RunId run) const;
  /// Fastest first.
  [[nodiscard]] std::vector<VendorTime> vendor_times(RunId run) const;
  /// In place of those that are there.
  void record_winner_ways(RunId run, const std::vector<WinnerWay>& ways);
  /// As they were recorded. Those of a winner that is no more are left out.
  [[nodiscard]] std::vector<WinnerWay> winner_ways(RunId run) const;
  /// How busy the units of an SM are predicted to be while a candidate runs, per cent by Nsight
  /// Compute's name of the metric; in place of what is there.
  void record_winner_units(RunId run, CandidateId winner,
                           const std::map<std::string, double>& percent);
  /// Returns the busy units of the winner; empty where they are not known.
  [[nodiscard]] std::map<std::string, double> winner_units(RunId run) const;

  /// For db/queries.hpp.
  [[nodiscard]] Connection& connection() const;

 private:
  explicit Store(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace evo
