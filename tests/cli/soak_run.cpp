// soak-run: makes a long run of evo-tune with the fake worker, and disturbs it: workers are killed
// or stopped, or fail by themselves; the disk is full; the database is locked; evo-tune is killed
// and resumed. The program prints what happened, and fails if results are lost, stored twice or
// wrong, or if memory grows too much.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "db/connection.hpp"
#include "engine/core/error.hpp"
#include "tests/cli/child_processes.hpp"
#include "tests/cli/fake_session.hpp"
#include "tests/cli/run_content.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Options {
  int evaluations = 10'000;
  std::uint64_t seed = 1;
  int compile_faults = 3000;  ///< out of a million compilations
  int launch_faults = 10;     ///< out of a million launches; a candidate makes about 100 launches
  int pause_ms = 400;         ///< mean time between two disturbances by this program
};

constexpr int kOffspring = 50;

/// The evaluations that evo-tune reported as stored: the generation and the position of a
/// candidate, and its outcome.
using Acknowledged = std::map<std::pair<int, int>, std::string>;

std::string outcome_of(const nlohmann::json& event) {
  if (event.contains("duplicate_of")) return "duplicate";
  if (event.contains("gate")) return event["gate"].get<std::string>();
  return "green";
}

std::string outcome_of(const EvaluationRecord& record) {
  if (record.duplicate_of) return "duplicate";
  return record.rejection ? std::string(to_string(record.rejection->gate)) : "green";
}

/// Reads the output of evo-tune in a thread of its own, while the main thread disturbs evo-tune.
class Listener {
 public:
  Listener(RunningProgram& program, Acknowledged& acknowledged)
      : thread_([&program, &acknowledged, this] {
          for (std::string line; !(line = program.read_line()).empty();) {
            const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
            if (event.is_discarded() || event.value("event", "") != "evaluated") continue;
            acknowledged[{event["generation"], event["position"]}] = outcome_of(event);
            ++heard_;
          }
          ended_ = true;
        }) {}
  ~Listener() { thread_.join(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::size_t heard() const { return heard_; }

 private:
  std::atomic<bool> ended_{false};
  std::atomic<std::size_t> heard_{0};
  std::thread thread_;
};

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options), random_(options.seed) {}

  /// Runs and disturbs evo-tune until the run is finished. Returns whether nothing is lost, stored
  /// twice or wrong, and memory has not grown too much.
  bool run() {
    const Clock::time_point start = Clock::now();
    while (one_life()) {
    }
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    return report();
  }

 private:
  [[nodiscard]] std::string command(bool resumes) const {
    const int generations = (options_.evaluations + kOffspring - 1) / kOffspring;
    return "evo-tune --space " +
           (source_folder() / "tests/planted/search_spaces/soak.json").string() +
           " --device fake:measured --timeout 1 --jobs 2 --strategy random --json --seed " +
           std::to_string(options_.seed % 1000) + " --offspring " + std::to_string(kOffspring) +
           " --generations " + std::to_string(generations) + (resumes ? " --resume" : "");
  }

  [[nodiscard]] bool has_run() const {
    try {
      return !session_.store().runs().empty();
    } catch (const DbError&) {
      return false;
    }
  }

  /// Starts or resumes evo-tune, and disturbs it until it ends. Returns false if the run is
  /// finished, or if evo-tune has ended by itself too often.
  bool one_life() {
    const bool resumes = has_run();
    const std::size_t before = acknowledged_.size();
    ++lives_;
    disk_was_filled_ = was_killed_ = false;
    RunningProgram program(command(resumes), session_.folder(),
                           "EVO_FAKE_FAULTS='" + std::to_string(options_.compile_faults) + " " +
                               std::to_string(options_.launch_faults) + " " +
                               std::to_string(options_.seed) + "' " + session_.environment());
    {
      const Listener listener(program, acknowledged_);
      while (!listener.ended()) {
        pause();
        remember_memory(program.process(), before + listener.heard());
        if (!listener.ended()) torment(program);
      }
    }
    const int code = program.wait();
    if (code == 0 || (has_run() && session_.store().run(1).status == RunStatus::kFinished)) {
      return false;
    }
    const bool expected = (was_killed_ && code == 128 + SIGKILL) || (disk_was_filled_ && code == 2);
    if (!expected) {
      ++ended_by_itself_;
      std::cout << "evo-tune ended by itself with exit code " << code << std::endl;
    }
    constexpr int kTooMany = 200;
    return ended_by_itself_ < kTooMany;
  }

  void pause() {
    std::uniform_int_distribution<int> length(0, 2 * options_.pause_ms);
    std::this_thread::sleep_for(milliseconds(length(random_)));
  }

  void remember_memory(int process, std::size_t evaluated) {
    peak_kib_ = std::max(peak_kib_, memory_kib(process, "VmHWM"));
    const long now = memory_kib(process, "VmRSS");
    if (now > 0) memory_.push_back({evaluated, now});
  }

  void torment(RunningProgram& program) {
    switch (random_() % 7) {
      case 0:
        was_killed_ = true;
        program.send(SIGKILL);
        return count("evo-tune killed");
      case 1:
        return fill_disk(program.process());
      case 2:
        return lock_database();
      case 3:
        return stop_a_worker(program.process(), "device");
      case 4:
        return kill_a_worker(program.process(), "device");
      default:
        return kill_a_worker(program.process(), "compile");
    }
  }

  void count(const std::string& what) { ++happened_[what]; }

  void kill_a_worker(int process, const std::string& role) {
    for (const ChildProcess& child : children_of(process)) {
      if (child.role != role) continue;
      ::kill(child.id, SIGKILL);
      return count(role + " worker killed");
    }
  }

  void stop_a_worker(int process, const std::string& role) {
    for (const ChildProcess& child : children_of(process)) {
      if (child.role != role) continue;
      constexpr milliseconds kLong{300};
      ::kill(child.id, SIGSTOP);
      std::this_thread::sleep_for(kLong);
      ::kill(child.id, SIGCONT);
      return count(role + " worker stopped for 0.3 s");
    }
  }

  /// Simulates a full disk by a file size limit: evo-tune can no longer write to any file.
  void fill_disk(int process) {
    const rlimit none = {1, RLIM_INFINITY};
    disk_was_filled_ = true;
    (void)prlimit(process, RLIMIT_FSIZE, &none, nullptr);
    count("disk full");
  }

  void lock_database() {
    if (!has_run()) return;
    constexpr milliseconds kLong{300};
    SQLite::Database database(session_.path("evo.db"), SQLite::OPEN_READWRITE, 5000);
    const SQLite::Transaction lock(database, SQLite::TransactionBehavior::IMMEDIATE);
    std::this_thread::sleep_for(kLong);
    count("database locked for 0.3 s");
  }

  /// The largest resident set of evo-tune in KiB, measured when about the fraction `share` of all
  /// evaluations was done; 0 if it was not measured then.
  [[nodiscard]] long memory_at(double share) const {
    constexpr double kAround = 0.1;
    const auto all = static_cast<double>(acknowledged_.size());
    long most = 0;
    for (const auto& [evaluated, kib] : memory_) {
      if (std::abs(static_cast<double>(evaluated) / all - share) < kAround) {
        most = std::max(most, kib);
      }
    }
    return most;
  }

  bool report() {
    const Store store = session_.store();
    std::map<std::pair<int, int>, std::string> stored;
    std::set<std::string> configurations;
    std::size_t wrong_green = 0;
    for (const EvaluationRecord& evaluation : store.evaluations(1)) {
      stored[{evaluation.generation, evaluation.position}] = outcome_of(evaluation);
      configurations.insert(evaluation.config_json);
      const bool sound = evaluation.config_json.find(R"("BUG":"none")") != std::string::npos;
      wrong_green += !evaluation.rejection && evaluation.timing && !sound ? 1 : 0;
      ++evaluations_;
    }
    std::size_t lost = 0;
    for (const auto& [place, outcome] : acknowledged_) {
      const auto found = stored.find(place);
      lost += found == stored.end() || found->second != outcome ? 1 : 0;
    }
    const std::string damage = integrity_damage(store);
    const RunStatus status = store.run(1).status;
    for (const auto& [what, times] : happened_) std::cout << what << ": " << times << " times\n";
    std::map<std::string, int> events;
    for (const StoredEvent& event : store.events(1)) ++events[event.kind];
    for (const auto& [kind, times] : events) {
      std::cout << "event in the database: " << kind << ": " << times << " times\n";
    }
    const std::size_t duplicates = evaluations_ - configurations.size();
    const auto bytes = std::filesystem::file_size(session_.path("evo.db"));
    const long early = memory_at(0.25);
    const long late = memory_at(0.9);
    // evo-tune keeps the evaluations of a run in memory. Apart from evaluations, the memory of
    // evo-tune must not grow.
    constexpr double kKibOfAnEvaluation = 4;
    // The slack covers memory that the allocator does not return, and library code that is loaded
    // late.
    constexpr double kSlackKib = 4096;
    const double between = 0.65 * static_cast<double>(evaluations_);
    const double allowed = static_cast<double>(early) + kSlackKib + kKibOfAnEvaluation * between;
    const bool flat = early > 0 && static_cast<double>(late) <= allowed;
    constexpr double kMega = 1e6;
    std::cout << "evo-tune started " << lives_ << " times, ended by itself " << ended_by_itself_
              << " times\n"
              << "evaluations stored: " << evaluations_ << " of " << options_.evaluations << "\n"
              << "lost: " << lost << ", stored twice: " << duplicates
              << ", wrong kernels that are green: " << wrong_green << "\n"
              << "memory of evo-tune: peak " << peak_kib_ / 1024 << " MiB, at a quarter of the run "
              << early / 1024 << " MiB, at its end " << late / 1024 << " MiB; "
              << (flat ? "flat" : "NOT FLAT")
              << " (growth of at most 4 MiB and 4 KiB an evaluation)\n"
              << "database: " << static_cast<double>(bytes) / kMega << " MB, "
              << (damage.empty() ? "sound" : damage) << "; run " << to_string(status) << "\n"
              << "seconds: " << seconds_ << " (seed " << options_.seed << ")" << std::endl;
    return lost == 0 && duplicates == 0 && wrong_green == 0 && flat && damage.empty() &&
           ended_by_itself_ == 0 && status == RunStatus::kFinished &&
           evaluations_ >= static_cast<std::size_t>(options_.evaluations);
  }

  Options options_;
  std::mt19937_64 random_;
  FakeSession session_;
  Acknowledged acknowledged_;
  std::map<std::string, int> happened_;
  std::vector<std::pair<std::size_t, long>> memory_;  ///< evaluations, resident KiB
  long peak_kib_ = 0;
  std::size_t evaluations_ = 0;
  int lives_ = 0;
  int ended_by_itself_ = 0;
  bool disk_was_filled_ = false;
  bool was_killed_ = false;
  double seconds_ = 0;
};

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("soak-run", [&] {
    evo::Options options;
    CLI::App app(
        "Makes a long run with the fake worker and random disturbances; see tools/bench/soak.sh.");
    const auto add = [&](const char* name, auto& value, const char* text, std::uint64_t low) {
      app.add_option(name, value, text)
          ->capture_default_str()
          ->transform(evo::whole_number(low, 10'000'000));
    };
    add("--evaluations", options.evaluations, "number of evaluations", 50);
    add("--seed", options.seed, "seed of the disturbances and their times", 0);
    add("--compile-faults", options.compile_faults, "number of faults per million compilations", 0);
    add("--launch-faults", options.launch_faults, "number of faults per million launches", 0);
    add("--pause-ms", options.pause_ms, "mean time between two disturbances", 1);
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    const bool kept = evo::Soak(options).run();
    std::cout << (kept ? "every promise was kept" : "A PROMISE WAS BROKEN") << std::endl;
    return kept ? evo::ExitCode::kGreen : evo::ExitCode::kNothingGreen;
  });
}
