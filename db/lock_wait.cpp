#include "db/lock_wait.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kLimitVariable = "EVO_DB_WAIT_SECONDS";
constexpr int kDefaultLimitSeconds = 300;
constexpr int kLongestLimitSeconds = 86'400;
/// The shortest wait that is reported, unless half of the limit is shorter; writers normally hold
/// the lock for less time.
constexpr milliseconds kQuietly{2000};
/// How long to keep trying to lock the database after the user requested a stop: longer than a
/// transaction of another writer normally takes.
constexpr milliseconds kAfterStop{2000};

std::string seconds_text(std::chrono::steady_clock::duration duration) {
  return std::to_string(std::chrono::duration_cast<seconds>(duration).count()) + " s";
}

/// The name of `file` in /proc/locks, such as "fe:01:1234": the major and minor device number in
/// hexadecimal, and the inode; empty if the file does not exist.
std::string lock_name(const std::string& file) {
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
}

std::string process_text(const std::string& process) {
  std::ifstream stream("/proc/" + process + "/comm");
  std::string name;
  std::getline(stream, name);
  return "process " + process + (name.empty() ? "" : " (" + name + ")");
}

}  // namespace

milliseconds WaitOptions::default_limit() {
  const auto chosen = environment_variable(kLimitVariable);
  if (!chosen) return seconds(kDefaultLimitSeconds);
  const std::string& text = *chosen;
  int value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  if (!whole || value < 0 || value > kLongestLimitSeconds) {
    throw DbError(fmt::format("{}: '{}': allowed: a whole number of seconds from 0 to {}",
                              kLimitVariable, text, kLongestLimitSeconds));
  }
  return seconds(value);
}

void WaitOptions::print_notice(const std::string& line) { std::cerr << line << std::endl; }

std::string lock_holders(const std::filesystem::path& file) {
  std::set<std::string> names;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    names.insert(lock_name(file.string() + suffix));
  }
  names.erase(std::string());
  const std::string self = std::to_string(getpid());
  std::ifstream locks("/proc/locks");
  std::set<std::string> holders;
  for (std::string line; std::getline(locks, line);) {
    // /proc/locks has a line such as "1: POSIX ADVISORY WRITE 1234 fe:01:5678 120 120" for each
    // lock, and a line "1: -> POSIX ..." for each process that waits for a lock.
    std::istringstream words(line);
    std::string number, kind, mode, access, process, name;
    words >> number >> kind >> mode >> access >> process >> name;
    if (kind == "->" || process == self || process == "0" || process == "-1") continue;
    if (access == "WRITE" && names.contains(name)) holders.insert(process_text(process));
  }
  return holders.empty() ? "another process" : fmt::format("{}", fmt::join(holders, ", "));
}

LockWait::LockWait(std::filesystem::path file, WaitOptions options)
    : file_(std::move(file)), options_(std::move(options)) {}

void LockWait::install(sqlite3* connection) {
  const auto handler = [](void* self, int) { return static_cast<LockWait*>(self)->wait() ? 1 : 0; };
  sqlite3_busy_handler(connection, handler, this);
}

void LockWait::start() {
  began_ = stopped_ = {};
  told_ = interrupted_ = false;
}

bool LockWait::wait() {
  const Clock::time_point now = Clock::now();
  if (began_ == Clock::time_point{}) began_ = now;
  if (options_.stop != nullptr && *options_.stop) {
    if (stopped_ == Clock::time_point{}) stopped_ = now;
    interrupted_ = now - stopped_ >= kAfterStop;
    if (interrupted_) return false;
  }
  if (now - began_ >= options_.limit) return false;
  if (!told_ && now - began_ >= std::min(kQuietly, options_.limit / 2)) {
    told_ = true;
    options_.notice(fmt::format("{}: is locked by {}; waiting for it, at most {}", file_.string(),
                                lock_holders(file_), seconds_text(options_.limit)));
  }
  constexpr milliseconds kShortest{1};
  constexpr milliseconds kLongest{50};
  const auto waited = std::chrono::duration_cast<milliseconds>(now - began_);
  const milliseconds pause = std::clamp(waited / 4, kShortest, kLongest);
  const timespec time = {0, std::chrono::nanoseconds(pause).count()};
  nanosleep(&time, nullptr);  // not sleep_for(), which goes on sleeping after a signal
  return true;
}

std::string LockWait::in_vain() const {
  return fmt::format("was locked by {} for {}", lock_holders(file_),
                     seconds_text(Clock::now() - began_));
}

}  // namespace evo
