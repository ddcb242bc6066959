// The program record-agreement runs the kernels of tests/agreement on a device and stores their
// outputs in a file, or compares the outputs in a file with those of the virtual GPU. With
// --tables, it only writes tables of ex2.approx and rcp.approx (tables.hpp).
#include <CLI/CLI.hpp>
#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <thread>

#include "engine/compile/nvrtc.hpp"
#include "engine/device/open_device.hpp"
#include "tests/agreement/recorder.hpp"
#include "tests/agreement/replay.hpp"
#include "tests/agreement/tables.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo::agreement {
namespace {

struct Arguments {
  std::string root = EVO_SOURCE_DIR;
  std::string device = "cuda:0";
  std::string out;
  std::string check;
  std::string tables;
  std::uint64_t seed = 1;
  RecordPlan plan = default_plan();
};

void describe(const Record& record, const std::string& file) {
  std::cout << file << ": " << record.device_name << " (" << record.device_id << ", "
            << record.driver << "), " << record.compiler << ", " << record.date << ": "
            << record.cases.size() << " kernels, " << record.candidates.size() << " candidates, "
            << record.faults.size() << " faults, " << std::filesystem::file_size(file)
            << " bytes\n";
  for (const std::string& fault : record.faults) std::cout << "fault: " << fault << '\n';
}

ExitCode record_to(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const auto compiler = open_nvrtc();
  const auto device = open_device(arguments.device);
  Recorder recorder(arguments.root, *device, *compiler,
                    [&](const Record& so_far) { write_record(so_far, arguments.out); });
  const Record record = recorder.record(arguments.plan, arguments.seed);
  write_record(record, arguments.out);
  describe(record, arguments.out);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::cout << "recorded in " << elapsed.count() << " s\n";
  return record.faults.empty() ? ExitCode::kGreen : ExitCode::kNothingGreen;
}

/// Prints the kernels whose outputs differ from the recorded ones. Returns how many kernels exceed
/// their bounds or cannot be compared.
std::size_t check_cases(const Arguments& arguments, const Record& record) {
  if (record.cases.empty()) return 0;
  Replay replay(arguments.root, record, 0);
  std::size_t compared = 0;
  std::size_t identical = 0;
  std::size_t outside = 0;
  for (const AgreementCase& data : all_cases()) {
    try {
      const auto result = replay.replay(data);
      if (!result) {
        std::cout << data.entry << ": not recorded\n";
        continue;
      }
      ++compared;
      identical += result->identical == result->elements ? 1 : 0;
      outside += result->outside > 0 ? 1 : 0;
      if (result->identical == result->elements) continue;
      std::cout << data.entry << ": " << result->elements - result->identical << " of "
                << result->elements << " elements differ, " << result->outside
                << " outside; largest " << result->worst_share << " of its bound"
                << (result->first.empty() ? "" : "; first: ") << result->first << '\n';
    } catch (const std::exception& error) {
      ++outside;
      std::cout << data.entry << ": " << error.what() << '\n';
    }
  }
  std::cout << compared << " kernels compared: " << identical << " identical to the bit, "
            << outside << " outside their bounds\n";
  return outside;
}

using Summaries = std::map<std::string, KindSummary>;

/// Runs every `step`-th recorded candidate from number `first` on.
std::vector<CandidateReplay> replay_share(const Arguments& arguments, const Record& record,
                                          std::size_t first, std::size_t step) {
  Replay replay(arguments.root, record, 1);
  std::vector<CandidateReplay> results;
  for (std::size_t i = first; i < record.candidates.size(); i += step)
    results.push_back(replay.replay(record.candidates[i]));
  return results;
}

std::size_t check_candidates(const Arguments& arguments, const Record& record) {
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<std::vector<CandidateReplay>>> shares;
  for (std::size_t t = 0; t < threads; ++t) {
    shares.push_back(std::async(std::launch::async, [&arguments, &record, t, threads] {
      return replay_share(arguments, record, t, threads);
    }));
  }
  Summaries summaries;
  std::size_t failures = 0;
  for (auto& share : shares) {
    for (const CandidateReplay& replay : share.get()) {
      summaries[replay.bound.kind].add(replay);
      if (replay.failure.empty()) continue;
      ++failures;
      std::cout << "outside: " << replay.failure << '\n';
    }
  }
  for (const auto& [kind, summary] : summaries) std::cout << kind << ": " << summary.text() << '\n';
  return failures;
}

ExitCode check(const Arguments& arguments) {
  const Record record = read_record(arguments.check);
  describe(record, arguments.check);
  const std::size_t outside = check_cases(arguments, record) + check_candidates(arguments, record);
  return outside == 0 ? ExitCode::kGreen : ExitCode::kNothingGreen;
}

ExitCode run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Record the outputs of many kernels on a device, or compare them with the virtual GPU's.",
      "record-agreement");
  app.add_option("--root", arguments.root, "the project's folder")->capture_default_str();
  app.add_option("--device", arguments.device, "the device whose outputs are recorded")
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "seed of the random candidates")->capture_default_str();
  app.add_flag_callback(
      "--kernels-only", [&] { arguments.plan.candidates.clear(); },
      "record no candidates of spaces");
  app.add_flag_callback(
      "--wgmma", [&] { arguments.plan = wgmma_plan(); },
      "record only candidates of attention by wgmma");
  auto* out = app.add_option("--out", arguments.out, "record the outputs to this file");
  auto* checked = app.add_option("--check", arguments.check, "compare this file with virtual:h200");
  app.add_option("--tables", arguments.tables,
                 "write tables of ex2.approx and rcp.approx to this file");
  out->excludes(checked);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  if (!arguments.tables.empty()) {
    const auto device = open_device(arguments.device);
    write_tables(arguments.root, *device, *open_nvrtc(), arguments.tables);
    return ExitCode::kGreen;
  }
  if (!arguments.out.empty()) return record_to(arguments);
  if (!arguments.check.empty()) return check(arguments);
  throw InputError("give one of the options --out, --check and --tables");
}

}  // namespace
}  // namespace evo::agreement

int main(int argc, char** argv) {
  return evo::tool_main("record-agreement", [&] { return evo::agreement::run(argc, argv); });
}
