// count-verdicts: judges the kernels of twin_kernels.hpp many times on the virtual GPU, with
// different seeds and numbers of host threads. Each kernel has a right version and a wrong version,
// the twin. Failures are false alarms (a report about a right version), misses (no report about a
// wrong version), and reports about a wrong version that do not name its defect. Wrong versions
// that are harmless are not judged.
#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "engine/core/error.hpp"
#include "tests/engine/device/virtual/twin_kernels.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo::test {
namespace {

struct Arguments {
  std::size_t judgements = 1000;
  std::vector<int> threads = {1, 2, 16};
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  std::string save_ptx;  ///< folder; "": judge the kernels
  std::string ptx;       ///< folder; "": compile the kernels
};

/// The PTX of the kernels in one source file: the right versions and the wrong versions.
using PtxPair = std::array<std::string, 2>;

struct Work {
  TwinSet set = TwinSet::kLocks;
  const TwinKernel* kernel = nullptr;
  const PtxPair* ptx = nullptr;
  int threads = 1;
  bool is_twin = false;
};

struct Tally {
  std::size_t right = 0;
  std::size_t false_alarms = 0;
  std::size_t twins = 0;
  std::size_t missed = 0;  ///< nothing was reported
  std::size_t other = 0;   ///< something other than the defect was reported

  void add(const Tally& more) {
    right += more.right;
    false_alarms += more.false_alarms;
    twins += more.twins;
    missed += more.missed;
    other += more.other;
  }
  [[nodiscard]] std::size_t failures() const { return false_alarms + missed + other; }
};

std::string file_of(const std::string& folder, TwinSet set, bool is_twin) {
  return folder + "/" + name_of(set) + (is_twin ? ".twins.ptx" : ".ptx");
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in || text.str().empty())
    throw InputError(path + ": cannot be read; write it with --save-ptx on a machine with NVRTC");
  return text.str();
}

std::array<PtxPair, std::size(kTwinSets)> all_ptx(const Arguments& arguments) {
  std::array<PtxPair, std::size(kTwinSets)> all;
  for (const TwinSet set : kTwinSets) {
    if (const auto missing = missing_for(set); missing && arguments.ptx.empty())
      throw InputError(name_of(set) + ": " + *missing + "; read its PTX by --ptx DIR");
    for (const bool is_twin : {false, true}) {
      all[static_cast<std::size_t>(set)][is_twin ? 1 : 0] =
          arguments.ptx.empty() ? compile_twins(set, is_twin)
                                : read(file_of(arguments.ptx, set, is_twin));
    }
  }
  return all;
}

void save(const Arguments& arguments) {
  const auto all = all_ptx(arguments);
  for (const TwinSet set : kTwinSets) {
    for (const bool is_twin : {false, true}) {
      const std::string path = file_of(arguments.save_ptx, set, is_twin);
      std::ofstream out(path);
      out << all[static_cast<std::size_t>(set)][is_twin ? 1 : 0];
      if (!out.flush()) throw InputError(path + ": cannot be written");
    }
  }
}

Tally judge(const Work& work, std::uint64_t seed, std::string& report) {
  const std::string& ptx = (*work.ptx)[work.is_twin ? 1 : 0];
  const std::string said = judge_twin(work.set, ptx, work.kernel->entry, seed, work.threads);
  Tally tally;
  const char* failure = nullptr;
  if (!work.is_twin) {
    tally.right = 1;
    tally.false_alarms = said.empty() ? 0 : 1;
    if (!said.empty()) failure = "FALSE ALARM";
  } else {
    tally.twins = 1;
    const bool is_found = is_defect_found(*work.kernel, said);
    tally.missed = said.empty() ? 1 : 0;
    tally.other = !said.empty() && !is_found ? 1 : 0;
    if (!is_found) failure = said.empty() ? "MISSED" : "OTHER REPORT";
  }
  if (failure != nullptr) {
    report = std::string(failure) + ": " + name_of(work.set) + "/" + work.kernel->entry +
             ", seed " + std::to_string(seed) + ", " + std::to_string(work.threads) + " threads\n" +
             said + "\n";
  }
  return tally;
}

/// The judgements with one seed and one number of host threads: each kernel in the right version
/// and, unless it is harmless, in the wrong version.
std::vector<Work> round_of(TwinSet set, const PtxPair& ptx, int threads) {
  std::vector<Work> works;
  for (const TwinKernel& kernel : kernels_of(set)) {
    works.push_back({set, &kernel, &ptx, threads, false});
    if (*kernel.found_as != '\0') works.push_back({set, &kernel, &ptx, threads, true});
  }
  return works;
}

Tally judge_all(const Arguments& arguments, const std::vector<Work>& works, std::size_t rounds) {
  Tally total;
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> jobs;
  for (unsigned job = 0; job < arguments.jobs; ++job) {
    jobs.emplace_back([&] {
      for (std::size_t i = next++; i < works.size() * rounds; i = next++) {
        std::string report;
        const Tally one = judge(works[i % works.size()], arguments.seed + i / works.size(), report);
        const std::scoped_lock lock(mutex);
        total.add(one);
        std::cout << report << std::flush;
      }
    });
  }
  jobs.clear();
  return total;
}

void print(const std::string& set, const std::string& threads, const Tally& tally, double seconds) {
  std::printf("%-14s %7s %8zu %13zu %8zu %8zu %13zu %9.1f\n", set.c_str(), threads.c_str(),
              tally.right, tally.false_alarms, tally.twins, tally.missed, tally.other, seconds);
  std::fflush(stdout);
}

Tally count(const Arguments& arguments) {
  const auto all = all_ptx(arguments);
  std::size_t in_a_round = 0;
  for (const TwinSet set : kTwinSets)
    in_a_round += round_of(set, all[static_cast<std::size_t>(set)], 1).size();
  in_a_round *= arguments.threads.size();
  const std::size_t rounds = (arguments.judgements + in_a_round - 1) / in_a_round;
  std::printf("%-14s %7s %8s %13s %8s %8s %13s %9s\n", "set", "threads", "right", "false alarms",
              "twins", "missed", "other reports", "seconds");
  Tally total;
  double total_seconds = 0;
  for (const TwinSet set : kTwinSets) {
    for (const int threads : arguments.threads) {
      const auto start = std::chrono::steady_clock::now();
      const auto works = round_of(set, all[static_cast<std::size_t>(set)], threads);
      const Tally tally = judge_all(arguments, works, rounds);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      print(name_of(set), std::to_string(threads), tally, elapsed.count());
      total.add(tally);
      total_seconds += elapsed.count();
    }
  }
  print("all", "", total, total_seconds);
  return total;
}

ExitCode run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Judge kernels whose threads synchronise, and wrong versions of them, on the virtual GPU.",
      "count-verdicts");
  app.add_option(
         "--judgements", arguments.judgements,
         "minimum number of judgements in total; every kernel and version is judged equally often")
      ->capture_default_str();
  app.add_option("--threads", arguments.threads,
                 "numbers of host threads for the virtual GPU, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seed", arguments.seed,
                 "seed of the first judgement of each kernel; later judgements add 1")
      ->capture_default_str();
  app.add_option("--jobs", arguments.jobs, "number of judgements at the same time")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  app.add_option("--save-ptx", arguments.save_ptx,
                 "write the kernels' PTX to this folder and exit");
  app.add_option("--ptx", arguments.ptx, "read the kernels' PTX from this folder, without NVRTC");
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  if (!arguments.save_ptx.empty()) {
    save(arguments);
    return ExitCode::kGreen;
  }
  return count(arguments).failures() == 0 ? ExitCode::kGreen : ExitCode::kNothingGreen;
}

}  // namespace
}  // namespace evo::test

int main(int argc, char** argv) {
  return evo::tool_main("count-verdicts", [&] { return evo::test::run(argc, argv); });
}
