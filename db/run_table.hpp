#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Starts, resumes, finishes and finds runs in the database.
class RunTable {
 public:
  explicit RunTable(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  RunId start_run(const RunInfo& info) { return start_runs({info}).front(); }
  /// Starts one run for each shape of a search, in one transaction.
  std::vector<RunId> start_runs(const std::vector<RunInfo>& infos);
  /// Returns the sorted ids of `run` and of the runs of the same search on other shapes.
  [[nodiscard]] std::vector<RunId> runs_beside(RunId run) const;
  /// Marks a run as running and as owned by this process. Replaces the run's options by
  /// `options_json` unless `options_json` is empty. Throws DbError if the run does not exist or
  /// another process is executing it.
  StoredRun resume_run(RunId run, const std::string& options_json = {});
  void finish_run(RunId run, RunStatus status);
  /// Returns the newest unfinished run that no process is executing and whose space, problem,
  /// shapes, device (name and kind of times) and purpose (`aim` in the options) equal those of
  /// `like`.
  [[nodiscard]] std::optional<RunId> find_resumable(const RunInfo& like) const;
  /// Returns all runs, oldest first.
  [[nodiscard]] std::vector<StoredRun> runs() const;
  /// If the run does not exist, throws a DbError that states how many runs exist, and the smallest
  /// and the largest number.
  [[nodiscard]] StoredRun run(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
