#include "db/opened_file.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "db/database_file.hpp"

namespace evo {

namespace fs = std::filesystem;

OpenedFile::OpenedFile(fs::path file, sqlite3* database)
    : file_(std::move(file)), database_(database) {
  // If the name is a symbolic link, SQLite places the write-ahead log beside the link's target.
  const char* found = sqlite3_db_filename(database, "main");
  const auto part = [](const std::string& name) { return Part{name, identity_of(name)}; };
  main_ = part(file_.string());
  log_ = part(sqlite3_filename_wal(found));
  index_ = part(std::string(found) + "-shm");
}

OpenedFile::Identity OpenedFile::identity_of(const std::string& name) {
  struct stat status = {};
  if (stat(name.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

fs::path OpenedFile::descriptor_of(const Identity& identity) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", ignored)) {
    if (identity_of(entry.path().string()) == identity) return entry.path();
  }
  return {};
}

bool OpenedFile::was_overwritten() const {
  // Reads through SQLite's own file descriptor, because closing another descriptor of the file
  // would release SQLite's locks (fcntl(2)).
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) return false;
  std::array<char, kDatabaseMagic.size()> start{};
  const int read = file->pMethods->xRead(file, start.data(), static_cast<int>(start.size()), 0);
  if (read != SQLITE_OK && read != SQLITE_IOERR_SHORT_READ) return false;  // SQLite reports why
  return std::string_view(start.data(), start.size()) != kDatabaseMagic;
}

std::string OpenedFile::change() const {
  const Identity now = identity_of(main_.name);
  int moved = 0;  // 1: the file was replaced after SQLite opened it
  sqlite3_file_control(database_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (now == Identity{}) return "was deleted or renamed";
  if (now != main_.identity || moved != 0) return "was replaced by another file";
  if (was_overwritten()) return "was overwritten";
  for (const Part* part : {&log_, &index_}) {
    if (identity_of(part->name) == part->identity) continue;
    return "lost its " + fs::path(part->name).filename().string() + ", deleted or replaced";
  }
  return {};
}

bool OpenedFile::locked_by_others(const Identity& identity, off_t start, off_t bytes) {
  const std::string name = descriptor_of(identity).filename().string();
  int descriptor = -1;
  std::from_chars(name.data(), name.data() + name.size(), descriptor);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = bytes;
  return descriptor < 0 || fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool OpenedFile::empties_log(bool overwritten) const {
  // Every connection holds two shared locks while it is open: on kSharedBytes bytes of the database
  // from byte kShared (https://sqlite.org/fileformat.html#the_lock_byte_page), and on byte
  // kDeadManSwitch of the log's index
  // (https://sqlite.org/walformat.html#how_the_various_locks_are_used: WAL_DMS_LOCK). If another
  // process holds one of the two locks, the log is not emptied, because that process may have
  // opened the new file and written its own transactions to this log.
  constexpr off_t kShared = 0x40000002, kSharedBytes = 510, kDeadManSwitch = 128;
  if (locked_by_others(main_.identity, kShared, kSharedBytes)) return false;
  if (locked_by_others(index_.identity, kDeadManSwitch, 1)) return false;
  if (overwritten) return truncate(descriptor_of(log_.identity).c_str(), 0) == 0;
  return sqlite3_wal_checkpoint_v2(database_, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                   nullptr) == SQLITE_OK;
}

std::string OpenedFile::part() const {
  const bool overwritten = was_overwritten();
  if (overwritten) {
    sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  std::string rest;
  if (!empties_log(overwritten) && identity_of(log_.name) == log_.identity) {
    rest = "; " + log_.name + " and " + index_.name +
           " belong to the old database: end the programs that have " + file_.string() +
           " open, then delete both files";
  }
  std::error_code error;
  const fs::path now = fs::read_symlink(descriptor_of(main_.identity), error);
  if (overwritten || error || !fs::exists(now, error)) return "its content is lost" + rest;
  return "the stored results are in " + now.string() + rest;
}

}  // namespace evo
