// Tests the real programs with kernels that have planted defects, on a CUDA GPU and on a virtual
// GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "db/queries.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo::planted_test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

std::string planted_space() { return source_folder() / "tests/planted/search_spaces/planted.json"; }

/// The gate that must reject the kernel with a defect, and the reasons.
struct Expected {
  std::string gate;
  std::string on_gpu;      ///< regular expression for the reason
  std::string on_virtual;  ///< "" if the virtual GPU cannot find it
};

const std::map<std::string, Expected>& expectations() {
  static const std::map<std::string, Expected> expected = {
      {"does not compile", {"build", "error.*does not compile", "error.*does not compile"}},
      {"too much shared", {"resource", "shared bytes 40960 > 32768", "shared bytes 40960 > 32768"}},
      {"out of bounds after",
       {"correctness", "outside buffer 'y'.*0 bytes past its end",
        "out-of-bounds.*0 bytes past the end of 'y'"}},
      {"out of bounds before",
       {"correctness", "outside buffer 'y'.*bytes before its start",
        "out-of-bounds.*4 bytes before 'y'"}},
      {"all zero", {"correctness", "y\\[0\\] = 0, expected", "y\\[0\\] = 0, expected"}},
      {"leaves nan", {"correctness", "1 non-finite element", "1 non-finite element"}},
      {"changes input", {"correctness", "changed its input 'x'", "read-only buffer.*'x'"}},
      {"skips tail", {"correctness", "non-finite element", "never written"}},
      {"stale", {"correctness", "non-finite element", "never written"}},
      {"knows inputs", {"correctness", "error .* > ", "error .* > "}},
      {"nondeterministic", {"correctness", "second run .*y\\[0\\]", "second run .*y\\[0\\]"}},
      // On a device that predicts times, evo-judge makes too few launches for this kernel to become
      // wrong.
      {"wrong later", {"correctness", "timed launches.*error", ""}},
      {"illegal address",
       {"correctness", "illegal|ILLEGAL", "out-of-bounds.*outside of all buffers"}},
      {"never returns",
       {"correctness", "did not finish within 3 s while checking",
        "did not finish within 3 s while checking|nothing changed during|warp instructions in one "
        "CTA"}},
  };
  return expected;
}

class Planted : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ProgramResult opened =
        run("evo-judge --space " + planted_space() + " --device " + device());
    if (opened.exit_code == 3 ||
        (opened.exit_code == 2 && opened.err.find("unknown device") != std::string::npos)) {
      GTEST_SKIP() << opened.err;
    }
    ASSERT_EQ(opened.exit_code, 0) << opened.out << opened.err;
  }

  [[nodiscard]] static const std::string& device() { return GetParam(); }
  [[nodiscard]] static bool is_virtual() { return device().starts_with("virtual:"); }
  [[nodiscard]] ProgramResult run(const std::string& command) const {
    return run_program(command, folder_.path());
  }
  void expect_outcome(const std::string& milestone,
                      const std::optional<Rejection>& rejection) const {
    const Expected& want = expectations().at(milestone);
    const std::string& reason = is_virtual() ? want.on_virtual : want.on_gpu;
    if (reason.empty()) return;
    ASSERT_TRUE(rejection.has_value()) << milestone << " passed every gate";
    EXPECT_EQ(to_string(rejection->gate), want.gate) << milestone << ": " << rejection->reason;
    EXPECT_THAT(rejection->reason, ContainsRegex(reason)) << milestone;
  }

  sample::TemporaryFolder folder_;
};

TEST_P(Planted, EveryDefectIsStoppedAndTheSearchEndsGreen) {
  const ProgramResult tuned = run("evo-tune --space " + planted_space() + " --device " + device() +
                                  " --timeout 3 --generations 3 --offspring 4 --seed 2 --json");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const Store store = Store::open_read_only(folder_.path() / "evo.db");
  std::map<std::string, EvaluationRecord> found;
  for (const EvaluationRecord& evaluation : store.evaluations(1)) {
    if (!evaluation.milestone.empty()) found[evaluation.milestone] = evaluation;
  }
  for (const auto& [milestone, want] : expectations()) {
    ASSERT_TRUE(found.contains(milestone)) << milestone;
    expect_outcome(milestone, found.at(milestone).rejection);
  }
  for (const char* clean : {"clean", "narrow", "long"}) {
    EXPECT_FALSE(found.at(clean).rejection.has_value())
        << clean << ": " << found.at(clean).rejection->reason;
  }
  EXPECT_EQ(found.at("alias").duplicate_of, found.at("clean").id);

  const std::vector<EliteRow> elite = elite_of_run(store, 1);
  ASSERT_EQ(elite.size(), 3U);
  for (const EliteRow& row : elite) {
    EXPECT_EQ(row.kind, is_virtual() ? TimeKind::kPredicted : TimeKind::kMeasured);
    EXPECT_GT(row.p50_us, 0);
    if (!is_virtual()) {
      EXPECT_THAT(row.config_json, HasSubstr(R"("BUG":"none")"));
    }
  }
}

TEST_P(Planted, DefectsThatAGpuPassesByLuckDoNotStayInTheElite) {
  const ProgramResult tuned =
      run("evo-tune --space " + (source_folder() / "tests/planted/search_spaces").string() +
          "/lucky.json --device " + device() + " --generations 3 --elite 9");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const Store store = Store::open_read_only(folder_.path() / "evo.db");
  const std::vector<EliteRow> elite = elite_of_run(store, 1);
  ASSERT_EQ(elite.size(), 3U) << tuned.out << tuned.err;
  for (const EliteRow& row : elite) {
    EXPECT_THAT(row.config_json, HasSubstr(R"("BUG":"none")"));
  }
  if (is_virtual()) return;
  std::string reasons;
  for (const WithdrawalRecord& withdrawal : store.withdrawals(1)) {
    reasons += withdrawal.why.reason + "\n";
  }
  EXPECT_EQ(store.withdrawals(1).size(), 6U) << reasons;
  EXPECT_THAT(reasons, ContainsRegex("executed on virtual:[a-z0-9]+: .*shared-memory race"));
  EXPECT_THAT(reasons, ContainsRegex("out-of-bounds access: .*past the end of 'x'"));
}

TEST_P(Planted, AKernelThatStartsEarlyMustWait) {
  const auto judged = [&](const std::string& bug) {
    return run("evo-judge --space " +
               (source_folder() / "tests/planted/search_spaces/early.json").string() +
               " --device " + device() + " --json --set BUG=" + bug);
  };
  const ProgramResult right = judged("none");
  ASSERT_EQ(right.exit_code, 0) << right.out << right.err;
  if (json::parse(right.out)["arch"] < "sm_90") GTEST_SKIP() << "no kernel starts early here";
  for (const char* bug : {"reads_early", "last_warp"}) {
    const ProgramResult wrong = judged(bug);
    ASSERT_EQ(wrong.exit_code, 1) << bug << wrong.out << wrong.err;
    const json found = json::parse(wrong.out);
    EXPECT_EQ(found["rejection"]["gate"], "correctness");
    EXPECT_THAT(
        found["rejection"]["reason"].get<std::string>(),
        ContainsRegex(is_virtual() ? "missing griddepcontrol.wait: read of 4 bytes at .* 'x'"
                                   : "the kernel uses 'x' before griddepcontrol.wait"));
  }
}

TEST_P(Planted, JudgeAgreesWithTheSearch) {
  for (const auto& [milestone, want] : expectations()) {
    const ProgramResult judged =
        run("evo-judge --space " + planted_space() + " --device " + device() +
            " --timeout 3 --json --milestone '" + milestone + "'");
    ASSERT_LE(judged.exit_code, 1) << milestone << ": " << judged.err;
    const json found = json::parse(judged.out);
    std::optional<Rejection> rejection;
    if (found.contains("rejection")) {
      rejection = Rejection{gate_from_string(found["rejection"]["gate"].get<std::string>()),
                            found["rejection"]["reason"].get<std::string>()};
    }
    expect_outcome(milestone, rejection);
  }
}

TEST_P(Planted, AnHonestKernelIsTimedWithinReason) {
  const ProgramResult judged = run("evo-judge --space " + planted_space() + " --device " +
                                   device() + " --json --milestone clean");
  ASSERT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  const json found = json::parse(judged.out);
  EXPECT_EQ(found["verdict"], "green");
  ASSERT_EQ(found["checks"].size(), 15U);
  for (const json& check : found["checks"]) EXPECT_EQ(check["max_abs_error"], 0);
  // A launch with 4096 elements takes some microseconds on any GPU.
  EXPECT_GT(found["timing"]["p50_us"], 0.2);
  EXPECT_LT(found["timing"]["p50_us"], 50.0);
  EXPECT_GE(found["timing"]["samples"], is_virtual() ? 1 : 100);
}

std::string test_name(const testing::TestParamInfo<std::string>& device) {
  std::string name = device.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Gpu, Planted, testing::Values("cuda:0"), test_name);
INSTANTIATE_TEST_SUITE_P(Virtual, Planted, testing::Values("virtual:l4", "virtual:h200"),
                         test_name);

}  // namespace
}  // namespace evo::planted_test
