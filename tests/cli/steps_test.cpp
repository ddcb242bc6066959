// Tests a problem whose result several kernels compute one after the other (steps), and which
// evo-tune tunes as one kernel: from its source to an exported kernel. Uses the real programs,
// NVRTC and a virtual GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "db/queries.hpp"
#include "tests/cli/row_sums.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class Steps : public testing::Test {
 protected:
  Json judged(const std::string& more = {}) const {
    const ProgramResult result = project_.judge(more);
    if (result.out.empty()) return {{"error", result.err}};
    return Json::parse(result.out);
  }
  std::string complaint() const { return judged().value("error", "none"); }

  RowSums project_{"virtual:l4"};
};

TEST_F(Steps, AreTunedToAnEliteAsOneKernel) {
  const ProgramResult tuned = project_.tune();
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const Store store = Store::open_read_only(project_.folder() / "evo.db");
  std::set<std::string> keys;
  for (const EvaluationRecord& evaluation : store.evaluations(1)) {
    EXPECT_FALSE(evaluation.rejection) << evaluation.rejection->reason;
    keys.insert(evaluation.kernel_key);
  }
  EXPECT_EQ(keys.size(), 4U);
  EXPECT_EQ(elite_of_run(store, 1).size(), 3U);
  EXPECT_THAT(project_.run("evo-elite").out, HasSubstr("SPLITS=1"));
}

TEST_F(Steps, AConditionLeavesOneOut) {
  const Json split = judged("--set SPLITS=4");
  const Json whole = judged("--set SPLITS=1");
  ASSERT_EQ(split["verdict"], "green") << split;
  ASSERT_EQ(whole["verdict"], "green") << whole;
  ASSERT_EQ(split["steps"].size(), 2U);
  EXPECT_EQ(split["steps"][0]["grid"], Json({4, 8, 1}));
  EXPECT_EQ(split["steps"][1]["entry"], "final_sum<SPLITS>");
  EXPECT_EQ(whole["steps"].size(), 1U) << "SPLITS > 1 does not hold";
  project_.step(1)["when"] = 0;
  EXPECT_THAT(judged("--set SPLITS=4")["rejection"]["reason"], HasSubstr("never written"));
}

TEST_F(Steps, AWrongSecondStepIsFoundWrong) {
  project_.kernel(RowSums::final_sum("sum + (threadIdx.x == 5)"));
  const Json split = judged("--set SPLITS=4");
  EXPECT_EQ(split["rejection"]["gate"], "correctness");
  EXPECT_THAT(split["rejection"]["reason"], HasSubstr("y[5]"));
  EXPECT_EQ(judged("--set SPLITS=1")["verdict"], "green") << "the second step does not run";
  project_.kernel(RowSums::final_sum("parts[9999]"));
  EXPECT_THAT(judged("--set SPLITS=4")["rejection"]["reason"],
              AllOf(HasSubstr("step _Z9final_sum"), HasSubstr("out-of-bounds")));
}

TEST_F(Steps, RunInTheirOrder) {
  std::swap(project_.step(0), project_.step(1));
  EXPECT_EQ(judged("--set SPLITS=4")["rejection"]["gate"], "correctness");
}

TEST_F(Steps, AStepThatExceedsThePolicyIsNamed) {
  project_.space["resources"] = {{"shared_bytes_per_cta", 8192}};
  project_.kernel(
      RowSums::final_sum("sum + room[ROOM - 1 - threadIdx.x]",
                         "  const int ROOM = 4096;\n  __shared__ volatile float room[ROOM];\n"
                         "  room[threadIdx.x] = 0; room[ROOM - 1 - threadIdx.x] = 0;\n"));
  const Json split = judged("--set SPLITS=4");
  EXPECT_EQ(split["rejection"]["gate"], "resource");
  EXPECT_EQ(split["rejection"]["reason"],
            "step final_sum<SPLITS>: shared bytes 16384 > 8192 (policy)");
  EXPECT_EQ(split["static_shared_bytes"], 16384);
  EXPECT_EQ(judged("--set SPLITS=1")["verdict"], "green");
  EXPECT_THAT(project_.tune().out, HasSubstr("shared bytes > 8192: 2"));
}

TEST_F(Steps, AnEntryThatIsNotThereIsNamed) {
  project_.step(1)["entry"] = "last_sum<SPLITS>";
  EXPECT_THAT(judged()["rejection"]["reason"],
              HasSubstr("row_sums.cu: entry: the source has no entry point 'last_sum<SPLITS>'"));
  project_.step(1)["entry"] = "last_sum";
  EXPECT_THAT(judged()["rejection"]["reason"], HasSubstr("no entry point 'last_sum'"));
}

TEST_F(Steps, AreExportedWithAllThatALauncherNeeds) {
  project_.space["parameters"][1]["values"] = {4};
  project_.kernel("__constant__ float unread[2];\n" + RowSums::final_sum("sum"));
  ASSERT_EQ(project_.tune().exit_code, 0);
  ASSERT_EQ(project_.run("evo-export --rank 1 --out out --name best").exit_code, 0);
  const Json manifest = read_json_file(project_.folder() / "out/best.json");
  EXPECT_FALSE(manifest.contains("entry"));
  EXPECT_FALSE(manifest.contains("launch"));
  const Json& steps = manifest["steps"];
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0]["entry"], "_Z12partial_sumsPKfPfS1_i");
  EXPECT_EQ(steps[0]["entry_in_source"], "partial_sums");
  EXPECT_EQ(steps[0]["arguments"], Json({"x", "parts", "y", "n"}));
  EXPECT_EQ(steps[1]["entry"], "_Z9final_sumILi4EEvPKfPf");
  EXPECT_EQ(steps[1]["runs"], true);
  EXPECT_EQ(steps[1]["when"]["expression"], "SPLITS > 1");
  EXPECT_EQ(steps[1]["launch"]["block"][0]["expression"], "ROWS");
  EXPECT_EQ(steps[1]["launch"]["block"][0]["value"], 8);
  EXPECT_THAT(read_text_file(project_.folder() / "out/best.ptx"),
              AllOf(HasSubstr(".entry _Z12partial_sums"), HasSubstr(".entry _Z9final_sum")));
  EXPECT_THAT(read_text_file(project_.folder() / "out/best.cu"),
              EndsWith("template __global__ decltype(final_sum<SPLITS>) final_sum<SPLITS>;\n"));
}

TEST_F(Steps, AStepThatDoesNotRunIsExportedAsSuch) {
  project_.space["parameters"][1]["values"] = {1};
  project_.step(1)["grid"] = {"SPLITS - 1"};
  project_.step(1).erase("arguments");
  ASSERT_EQ(project_.tune().exit_code, 0);
  ASSERT_EQ(project_.run("evo-export --rank 1 --out out --name best").exit_code, 0);
  const Json last = read_json_file(project_.folder() / "out/best.json")["steps"][1];
  EXPECT_EQ(last["runs"], false);
  EXPECT_EQ(last["when"]["value"], 0);
  EXPECT_EQ(last["arguments"], Json({"x", "y", "n", "parts"}))
      << "by default, a step gets all arguments";
  EXPECT_EQ(last["launch"]["grid"], Json::parse(R"([{"expression": "SPLITS - 1"}])"));
}

TEST_F(Steps, WhatTheyMayNotSayIsRefusedByName) {
  project_.step(1)["when"] = "PARTS > 1";
  EXPECT_THAT(complaint(), AllOf(HasSubstr("templates.row_sums.steps[1].when"),
                                 HasSubstr("unknown name 'PARTS'")));
}

TEST_F(Steps, ConstantsAreThereForAll) {
  project_.problem["arguments"].push_back({{"name", "factor"},
                                           {"kind", "constant"},
                                           {"dtype", "f32"},
                                           {"extent", 1},
                                           {"generator", {{"distribution", "normal"}}}});
  project_.write("kernel_templates/row_sums/reference.cu",
                 "__constant__ float factor;\n"
                 "__global__ void expected(const float* x, float* y, int n) {\n"
                 "  float sum = 0;\n"
                 "  for (int i = 0; i < n; ++i) sum += x[threadIdx.x * n + i];\n"
                 "  y[threadIdx.x] = factor * sum;\n}\n");
  project_.kernel("__constant__ float factor;\n" + RowSums::final_sum("factor * sum"));
  EXPECT_EQ(judged("--set SPLITS=4")["verdict"], "green");
  EXPECT_EQ(judged("--set SPLITS=1")["verdict"], "rejected")
      << "the first step does not multiply by factor";
}

}  // namespace
}  // namespace evo
