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
  /// The runs of one search over several shapes; all or none are started.
  std::vector<RunId> start_runs(const std::vector<RunInfo>& infos);
  /// The run, followed by those started with it for the other shapes.
  [[nodiscard]] std::vector<RunId> runs_beside(RunId run) const;
  /// Takes over an unfinished run or continues a finished one; sets other options unless they are
  /// empty. Throws DbError if there is no such run or another live process is writing it.
  StoredRun resume_run(RunId run, const std::string& options_json = {});
  void finish_run(RunId run, RunStatus status);
  /// The newest run that was interrupted, failed or killed, that no live process is writing, and
  /// that has the same content of space and problem, shapes, device (name and kind) and purpose
  /// (from its options).
  [[nodiscard]] std::optional<RunId> find_resumable(const RunInfo& like) const;
  /// Oldest first.
  [[nodiscard]] std::vector<StoredRun> runs() const;
  /// Throws DbError listing the existing runs if there is no such run.
  [[nodiscard]] StoredRun run(RunId run) const;

 private:
  std::shared_ptr<Connection> db_;
};

}  // namespace evo
