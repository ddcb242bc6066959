#pragma once

#include <filesystem>
#include <memory>

#include "db/run_reader.hpp"
#include "db/run_records.hpp"
#include "db/run_table.hpp"
#include "db/winner_way_table.hpp"

namespace evo {

class Connection;
struct WaitOptions;

/// The database of runs. A constructed Store is open, and its schema has the version of this
/// program. Each method that writes makes one transaction, which is stored completely or not at
/// all, even if the process is killed or the disk is full. Several processes may write to one
/// database; each waits while another process writes. A failure is a DbError that names the file,
/// or an Error with ExitCode::kInterrupted if a signal ended a wait. Not thread-safe: use one Store
/// per thread.
class Store final : public RunTable, public RunRecords, public RunReader, public WinnerWayTable {
 public:
  /// Opens the database for reading and writing. Creates the file if it is missing or empty. Throws
  /// DbError for a database of another program or of another version.
  [[nodiscard]] static Store open(const std::filesystem::path& file);
  /// Like open(). `wait` says how to wait while other processes have locked the file.
  [[nodiscard]] static Store open_waiting(const std::filesystem::path& file,
                                          const WaitOptions& wait);
  /// Opens the database for reading only, and throws DbError if the file is missing or empty. Works
  /// in read-only folders.
  [[nodiscard]] static Store open_read_only(const std::filesystem::path& file);
  /// A database in memory, for tests.
  [[nodiscard]] static Store in_memory();

  /// Used by db/queries.hpp.
  [[nodiscard]] Connection& connection() const { return *connection_; }

 private:
  explicit Store(const std::shared_ptr<Connection>& connection)
      : RunTable(connection),
        RunRecords(connection),
        RunReader(connection),
        WinnerWayTable(connection),
        connection_(connection) {}

  std::shared_ptr<Connection> connection_;
};

}  // namespace evo
