#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

/// Starts, resumes, finishes and finds runs.
class RunTable {
 public:
  explicit RunTable(std::shared_ptr<Connection> db) : db_(std::move(db)) {}

  RunId start_run(const RunInfo& info) { return start_runs({info}).front(); }
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

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
