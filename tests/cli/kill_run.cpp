// kill-run: starts evo-tune, kills evo-tune or one of its workers at random instants, resumes the
// run, and compares the final database with that of an undisturbed run.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "engine/core/error.hpp"
#include "tests/cli/child_processes.hpp"
#include "tests/cli/fake_session.hpp"
#include "tests/cli/run_content.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

struct Options {
  int kills = 20;
  std::uint64_t seed = 1;
  std::string victim = "coordinator";
};

/// The error that ends the program if a run lost data or differs from the undisturbed run.
class Broken : public Error {
 public:
  explicit Broken(const std::string& message) : Error(ExitCode::kNothingGreen, message) {}
};

/// The command line of a run. If the victim is evo-tune itself, the run includes defective kernels.
/// If the victims are workers, all kernels are right, because otherwise the program could not
/// distinguish its kills from kernels that end their worker.
std::string tune(const Options& options, const std::string& more) {
  if (options.victim == "coordinator") {
    return FakeSession::tune("--generations 6 --offspring 6 --seed 7 --check-seed 5 --json " +
                             more);
  }
  return "evo-tune --space " +
         (source_folder() / "tests/planted/search_spaces/wide.json").string() +
         " --device fake:measured --jobs 2 --max-in-flight 8 --strategy random --generations 12 "
         "--offspring 8 --seed 7 --check-seed 5 --json " +
         more;
}

class KillRun {
 public:
  explicit KillRun(const Options& options) : options_(options), random_(options.seed) {
    const Clock::time_point start = Clock::now();
    const ProgramResult result = undisturbed_.run(tune(options_, ""));
    if (result.exit_code != 0) throw Broken("the undisturbed run failed: " + result.err);
    length_ = std::chrono::duration_cast<microseconds>(Clock::now() - start);
    expected_ = run_content(undisturbed_.store(), 1);
  }

  /// Makes runs until the requested number of processes has been killed.
  void kill_all() {
    int runs = 0;
    while (done_ < options_.kills) {
      one_run(++runs);
      std::cout << "run " << runs << ": " << done_ << " kills, same results as the undisturbed run"
                << std::endl;
    }
    std::cout << done_ << " kills of " << options_.victim << " in " << runs << " runs of "
              << expected_.size() << " compared lines each (seed " << options_.seed
              << "): every run had the results of the undisturbed run" << std::endl;
  }

 private:
  /// Makes one run, kills its processes, and resumes it until it is finished.
  void one_run(int number) {
    const FakeSession session;
    bool started = false;
    while (true) {
      const bool resumes = started && !session.store().runs().empty();
      RunningProgram program(tune(options_, resumes ? "--resume" : ""), session.folder(),
                             session.environment() + " EVO_FAKE_COMPILE_MS=3");
      const bool coordinator = options_.victim == "coordinator";
      if (done_ < options_.kills) {
        coordinator ? kill_coordinator(program) : kill_workers(session, program);
      }
      const int code = program.wait();
      started = started || has_database(session);
      if (code == 0) break;
      ++done_;
      if (code != 128 + SIGKILL) {
        throw Broken("run " + std::to_string(number) + " ended with exit code " +
                     std::to_string(code));
      }
      if (!started) continue;
      check_kept(session);
      // evo-tune was killed after its last transaction, so there is nothing to resume.
      if (session.store().run(1).status == RunStatus::kFinished) break;
    }
    const std::string difference = first_difference(run_content(session.store(), 1), expected_);
    if (!difference.empty() || session.store().runs().size() != 1) {
      throw Broken("run " + std::to_string(number) + " differs from the undisturbed run:\n" +
                   difference);
    }
    kept_.clear();
  }

  static bool has_database(const FakeSession& session) {
    try {
      return !session.store().runs().empty();
    } catch (const DbError&) {
      return false;  // evo-tune was killed before it created a database
    }
  }

  /// Checks after a kill that the database is intact and still has everything that it had after the
  /// previous kill.
  void check_kept(const FakeSession& session) {
    const Store store = session.store();
    const std::string damage = integrity_damage(store);
    if (!damage.empty()) throw Broken("after a kill: " + damage);
    std::vector<std::string> now = run_content(store, 1);
    now.pop_back();  // the last line, the status, changes
    for (const std::string& line : kept_) {
      if (std::find(now.begin(), now.end(), line) == now.end()) throw Broken("lost: " + line);
    }
    kept_ = std::move(now);
  }

  void pause(microseconds longest) {
    std::uniform_int_distribution<std::int64_t> instant(0, longest.count());
    std::this_thread::sleep_for(microseconds(instant(random_)));
  }

  /// Kills evo-tune at a random instant: in the first half of the duration of the undisturbed run,
  /// or shortly after evo-tune stored a candidate.
  void kill_coordinator(RunningProgram& program) {
    if (random_() % 2 == 0) {
      pause(length_ / 2);
    } else {
      constexpr std::uint64_t kMost = 10;
      constexpr microseconds kShortly{20'000};
      const std::uint64_t wanted = 1 + random_() % kMost;
      if (!wait_for_evaluations(program, wanted)) return;
      pause(kShortly);
    }
    program.send(SIGKILL);
  }

  /// Reads the output of evo-tune until evo-tune has reported `wanted` further evaluations. Returns
  /// false if evo-tune ended before it reported `wanted` evaluations.
  static bool wait_for_evaluations(RunningProgram& program, std::uint64_t wanted) {
    for (std::uint64_t seen = 0; seen < wanted;) {
      const std::string line = program.read_line();
      if (line.empty()) return false;
      seen += line.find(R"("event":"evaluated")") != std::string::npos ? 1 : 0;
    }
    return true;
  }

  /// Repeatedly kills a worker until the requested number of kills is reached. Between two kills,
  /// the program waits until more candidates are evaluated than can be in flight at once, so that
  /// no candidate loses its worker twice.
  void kill_workers(const FakeSession& session, RunningProgram& program) {
    constexpr std::size_t kUnderWay = 9;
    std::size_t told = 0;
    while (done_ < options_.kills && program.is_running()) {
      pause(length_ / 8);
      for (const ChildProcess& child : children_of(program.process())) {
        if (child.role != options_.victim) continue;
        done_ += ::kill(child.id, SIGKILL) == 0 ? 1 : 0;
        break;
      }
      const std::size_t stored = has_database(session) ? session.store().evaluations(1).size() : 0;
      const std::size_t wanted = stored + kUnderWay - std::min(told, stored + kUnderWay);
      if (!wait_for_evaluations(program, wanted)) return;
      told += wanted;
    }
  }

  Options options_;
  std::mt19937_64 random_;
  FakeSession undisturbed_;
  microseconds length_{};
  std::vector<std::string> expected_;
  std::vector<std::string> kept_;
  int done_ = 0;
};

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("kill-run", [&] {
    evo::Options options;
    CLI::App app(
        "Kills evo-tune (or a worker) at random instants and compares the results with those of an "
        "undisturbed run.");
    app.add_option("--kills", options.kills, "number of kills")
        ->capture_default_str()
        ->transform(evo::whole_number(1, 1000000));
    app.add_option("--seed", options.seed, "seed of the random instants")
        ->capture_default_str()
        ->transform(evo::seed_number());
    app.add_option("--victim", options.victim,
                   "process to kill: coordinator (evo-tune), compile or device")
        ->capture_default_str()
        ->check(CLI::IsMember({"coordinator", "compile", "device"}));
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    evo::KillRun(options).kill_all();
    return evo::ExitCode::kGreen;
  });
}
