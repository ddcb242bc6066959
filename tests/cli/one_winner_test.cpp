// Tests that evo-elite, its JSON, the report, the exported kernel and the bundle name the same
// winner of a run, or none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"
#include "tools/report/data.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kProblem = R"({"shapes": {
    "small": {"variables": {"S": 32}}, "mission": {"variables": {"S": 512}},
    "long": {"variables": {"S": 2048}}}})";
constexpr const char* kSpace = R"({"format": "evo-tune space 1", "name": "copy_h200",
  "problem": "copy", "template": "plain", "arch": "sm_90", "shape": "mission",
  "parameters": [{"macro": "TILE", "values": {"from": 1, "to": 900, "step": 1}}],
  "resources": {"spill_bytes": 0}})";
constexpr const char* kManifest = R"({"entry": "copy", "shape": {"name": "mission"},
  "macros": {"TILE": 1}, "launch": {"block": [{"value": 64, "expression": "64"}]}, "arguments": [], "valid": []})";

/// The winner that each program names, as its value of the macro TILE; -1 if the program names
/// none.
struct Winners {
  int elite = -1;
  int json = -1;
  int report = -1;
  int exported = -1;
  int bundle = -1;

  bool operator==(const Winners&) const = default;
};
Winners all(int tile) { return {tile, tile, tile, tile, tile}; }
void PrintTo(const Winners& its, std::ostream* out) {
  *out << "elite " << its.elite << ", json " << its.json << ", report " << its.report
       << ", exported " << its.exported << ", bundle " << its.bundle;
}

class OneWinner : public testing::Test {
 protected:
  RunId start(const std::string& shape = "mission", TimeKind kind = TimeKind::kMeasured,
              const std::string& device = {}) {
    RunInfo info = sample::run_info(kind);
    info.problem.text = kProblem;
    info.space.text = kSpace;
    info.options_json = R"({"generations":1,"max_in_flight":4,"check_seed":9,"cold":true})";
    info.shape = shape;
    if (!device.empty()) info.device.id = info.device.name = device;
    return store_.start_run(info);
  }
  CandidateId add(RunId run, int tile, double p50_us) {
    const RunInfo& info = store_.run(run).info;
    const CompilationId code = store_.put_compilation(sample::compilation(std::to_string(tile)));
    EvaluationRecord record = sample::green(0, tile, code, p50_us, info.device.time_kind);
    record.manifest_json = kManifest;
    return store_.record_evaluation(run, record);
  }
  void close(RunId run, const std::vector<CandidateId>& elite, RunStatus status) {
    store_.record_generation(run, {.number = 0, .elite = elite});
    store_.finish_run(run, status);
  }
  void tie(RunId run, CandidateId challenger, CandidateId incumbent) {
    store_.record_comparison(run, {.challenger = challenger,
                                   .incumbent = incumbent,
                                   .ratio = 0.998,
                                   .ratio_low = 0.995,
                                   .ratio_high = 1.001,
                                   .pairs = 12,
                                   .verdict = Verdict::kTie});
  }

  ProgramResult run(const std::string& command) const {
    return run_program(command, folder_.path());
  }
  int tile_of(std::int64_t candidate) const {
    return json_of(store_.evaluation(candidate).config_json).at("TILE").get<int>();
  }
  static nlohmann::json json_of(const std::string& text) { return nlohmann::json::parse(text); }

  /// Calls each program on a run, and reads the winner from its output.
  Winners winners(RunId number) const {
    const std::string of_run = " --run " + std::to_string(number);
    Winners found;
    std::istringstream lines(run("evo-elite" + of_run + " --json").out);
    std::string line;
    if (std::getline(lines, line)) found.json = json_of(line).at("config").at("TILE");
    const std::string text = run("evo-elite" + of_run).out;
    std::istringstream rows(text);
    while (std::getline(rows, line)) {
      if (line.find("TILE=") == std::string::npos || found.elite >= 0) continue;
      found.elite = std::stoi(line.substr(line.find("TILE=") + 5));
    }
    const nlohmann::ordered_json report = report_of_run(store_, store_.run(number));
    if (!report["winner"].is_null()) found.report = report["winner"]["config"]["TILE"];
    const std::string name = "k" + std::to_string(number);
    if (run("evo-export --out . --name " + name + of_run).exit_code == 0) {
      found.exported = read_json_file(folder_.path() / (name + ".json")).at("config").at("TILE");
    }
    const std::string bundle = "bundle" + std::to_string(number);
    if (run("evo-export --bundle " + bundle + of_run).exit_code == 0) {
      const auto index = read_json_file(folder_.path() / bundle / "bundle.json");
      const auto serving = index.at("targets").at(0).at("serves").at(0).at("kernel");
      for (const auto& kernel : index.at("kernels")) {
        if (kernel.at("name") == serving) found.bundle = kernel.at("config").at("TILE");
      }
    }
    return found;
  }

  sample::TemporaryFolder folder_;
  Store store_ = Store::open(folder_.path() / "evo.db");
};

TEST_F(OneWinner, WhereOthersTieWithItAndTheirTimesAreLess) {
  const RunId id = start();
  const CandidateId first = add(id, 26, 5.30);
  const CandidateId second = add(id, 31, 5.29);
  const CandidateId third = add(id, 117, 5.28);
  const CandidateId fourth = add(id, 40, 6);
  tie(id, second, first);
  tie(id, second, third);
  close(id, {first, second, third, fourth}, RunStatus::kFinished);
  EXPECT_EQ(winners(id), all(26));
  const std::string text = run("evo-elite").out;
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "rank  p50 us  p90 us  TFLOP/s  regs  shared B  max abs err  kind      candidate  "
            "configuration\n"
            "  1=    5.30    5.83    377.4    96      5120      2.0e-03  measured          1  "
            "TILE=26\n"
            "  1=    5.29    5.82    378.1    96      5120      2.0e-03  measured          2  "
            "TILE=31\n"
            "  1=    5.28    5.81    378.8    96      5120      2.0e-03  measured          3  "
            "TILE=117\n"
            "   4    6.00    6.60    333.3    96      5120      2.0e-03  measured          4  "
            "TILE=40\n"
            "in common: SWIZZLE=xor\n"
            "= marks a tie: A/B pairs show no certain difference above 0.4 %.\n"
            "The first row is the winner: no other kernel beat it. Ratios, with confidence "
            "intervals:\n"
            "  candidate 2 takes 0.998 times as long as candidate 1 (0.995 to 1.001)\n"
            "  candidate 3 takes 1.002 times as long as candidate 2 (0.999 to 1.005)\n");
}

TEST_F(OneWinner, AfterAnInterruptionAndWithoutAnyComparison) {
  const RunId closed = start();
  const CandidateId first = add(closed, 3, 8);
  const CandidateId second = add(closed, 4, 7.99);
  tie(closed, second, first);
  close(closed, {first, second}, RunStatus::kInterrupted);
  add(closed, 5, 7.5);  // this kernel was not compared with the elite
  EXPECT_EQ(winners(closed), all(3));
  const RunId open = start();
  add(open, 8, 8);
  add(open, 7, 7);
  store_.finish_run(open, RunStatus::kInterrupted);
  Winners without = all(7);
  without.bundle = -1;  // no kernel passed a full check
  EXPECT_EQ(winners(open), without);
  EXPECT_THAT(run("evo-elite --run 2").out, HasSubstr("the run ended before it compared"));
  EXPECT_THAT(run("evo-elite --run 1").out, Not(HasSubstr("the run ended before")));
}

TEST_F(OneWinner, WithoutAGreenOneNobody) {
  const RunId id = start();
  store_.record_evaluation(id, sample::rejected(0, 1, {Gate::kBuild, "no"}));
  close(id, {}, RunStatus::kFinished);
  EXPECT_EQ(winners(id), all(-1));
}

TEST_F(OneWinner, OfPredictedTimes) {
  const RunId id = start("mission", TimeKind::kPredicted);
  const CandidateId best = add(id, 9, 4);
  const CandidateId next = add(id, 8, 4.5);
  close(id, {best, next}, RunStatus::kFinished);
  EXPECT_EQ(winners(id), all(9));
  EXPECT_THAT(run("evo-elite").out, HasSubstr("PREDICTED"));
}

TEST_F(OneWinner, OnTwoShapesEachHasItsOwnAndABundleOfFewerKernelsSaysSo) {
  const RunId mission = start("mission");
  const RunId longer = start("long");
  close(mission, {add(mission, 1, 10), add(mission, 2, 10.1)}, RunStatus::kFinished);
  close(longer, {add(longer, 3, 40), add(longer, 2, 40.5)}, RunStatus::kFinished);
  EXPECT_EQ(winners(mission), all(1));
  EXPECT_EQ(winners(longer), all(3));
  const std::string said = run("evo-export --bundle both").err;
  EXPECT_THAT(said, HasSubstr("mission is served by candidate 4 of run 1 (10.10 µs), not by the "
                              "winner of the newest run, candidate 1 of run 1 (10.00 µs): fewer "
                              "kernels serve all shapes within --loss-percent"));
  EXPECT_THAT(said, HasSubstr("long is served by candidate 4 of run 2"));
  EXPECT_THAT(run("evo-export --bundle both --loss-percent 0.5").err, Not(HasSubstr("is served")));
}

TEST_F(OneWinner, OnTwoDevicesEachHasItsOwn) {
  const RunId one = start("mission", TimeKind::kMeasured, "NVIDIA A");
  const RunId other = start("mission", TimeKind::kMeasured, "NVIDIA B");
  close(one, {add(one, 1, 10), add(one, 2, 11)}, RunStatus::kFinished);
  close(other, {add(other, 2, 9), add(other, 1, 12)}, RunStatus::kFinished);
  EXPECT_EQ(winners(one), all(1));
  EXPECT_EQ(winners(other), all(2));
  EXPECT_THAT(run("evo-export --bundle both").err, Not(HasSubstr("is served")));
}

TEST_F(OneWinner, OfAnEarlierRunThatWasFasterABundleSaysSo) {
  const RunId earlier = start();
  close(earlier, {add(earlier, 1, 10)}, RunStatus::kFinished);
  const RunId later = start();
  close(later, {add(later, 2, 10.5)}, RunStatus::kFinished);
  EXPECT_THAT(
      run("evo-export --bundle all --loss-percent 0").err,
      HasSubstr("mission is served by candidate 1 of run 1 (10.00 µs), not by the winner "
                "of the newest run, candidate 2 of run 2 (10.50 µs): the former was faster in its "
                "own run"));
}

}  // namespace
}  // namespace evo
