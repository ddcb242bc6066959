// Tests checks that run a part of the grid: which errors they must find, and when a part cannot
// represent the whole grid.

#include "engine/gate/correctness/sampled_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "engine/core/error.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/gate/made_gates.hpp"

namespace evo::sampled_check_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

/// PTX of a kernel y = x + 1 with one CTA of 64 threads for each row of 64 elements. The
/// instructions in `before_store` may change %f2 (the result) and %p1 (whether the thread stores);
/// %r1 is the CTA, %r2 the thread, %rd6 the workspace.
std::string kernel(const std::string& before_store = "") {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 x, .param .u64 y, .param .u64 scratch)
{
  .reg .pred %p<6>;
  .reg .b32 %r<8>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd6, [scratch];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 64, %r2;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, 0f3F800000;
  add.s64 %rd5, %rd2, %rd3;
  setp.ge.u32 %p1, %r2, 0;
)" + before_store +
         R"(
  @%p1 st.global.f32 [%rd5], %f2;
  ret;
}
)";
}

Json problem_json(const std::string& independent, const std::string& cta_of_row) {
  return Json::parse(R"({
    "format": "evo-tune problem 1", "name": "rows",
    "arguments": [
      {"name": "x", "direction": "in", "dtype": "f32", "extent": "64*R",
       "generator": {"distribution": "normal"}},
      {"name": "y", "direction": "out", "dtype": "f32", "extent": "64*R", "row": 64},
      {"name": "scratch", "direction": "workspace", "dtype": "u32", "extent": 1}],
    "shapes": {"long": {"variables": {"R": 4096}}},
    "tolerance": {"max_abs_error": 0.01, "bad_abs_error": 0.001, "bad_share": 0.5,
                  "relative_l2": 1, "max_row_error": 0.1},
    "flops": "64*R", "bytes": "512*R",
    "reference": {"source": "rows.cu", "entry": "rows", "grid": ["R"], "block": [64],
                  "cta_of_row": ")" +
                     cta_of_row + R"("},
    "templates": {"rows": {"source": "rows.cu", "entry": "rows", "grid": ["R"], "block": [64],
                           "independent_ctas": ")" +
                     independent + R"("}}})");
}

class Sampled : public testing::Test {
 protected:
  /// Runs a full check. It executes about 1/64 of the 4096 CTAs if a part can stand for the grid.
  CorrectnessResult check(const std::string& ptx, const std::string& independent = "1",
                          std::uint64_t seed = 1, const std::string& cta_of_row = "ROW") {
    return check_by({.flops_of_whole_grids = 4096}, CheckKind::kFull, ptx, independent, seed,
                    cta_of_row);
  }

  CorrectnessResult check_by(const CorrectnessOptions& options, CheckKind check_kind,
                             const std::string& ptx, const std::string& independent = "1",
                             std::uint64_t seed = 1, const std::string& cta_of_row = "ROW") {
    write_file(folder_.path() / "rows.cu", "");
    Json json = problem_json(independent, cta_of_row);
    if (!tolerance_.is_null()) json["tolerance"] = tolerance_;
    const Problem problem = Problem::parse(json.dump(), folder_.path());
    const auto device = open_virtual_device("virtual:l4", {.threads = 2});
    const auto work = make_host_work(*device);
    MadeGates made(*work, problem, load(*device, kernel()), seed);
    const LoadedKernel loaded = {load(*device, ptx), &problem.templates.front(), {}};
    CorrectnessGate gate(*work, problem, made.cases, made.judge, options);
    return gate.check(loaded, {&problem.shape("long")}, check_kind, {}, [](const std::string&) {});
  }

  static KernelId load(Device& device, const std::string& ptx) {
    const auto loaded = device.load({.ptx = ptx, .cubin = {}, .entries = {"rows"}});
    if (const auto* fault = std::get_if<Fault>(&loaded)) ADD_FAILURE() << fault->reason;
    return std::get<KernelId>(loaded);
  }

  static std::string reason_of(const CorrectnessResult& result) {
    return result.rejection ? result.rejection->reason : "passed";
  }

  sample::TemporaryFolder folder_;
  Json tolerance_;
};

TEST_F(Sampled, AnHonestKernelPassesAndTheReportSaysWhatWasRun) {
  const CorrectnessResult result = check(kernel());
  EXPECT_EQ(reason_of(result), "passed");
  ASSERT_EQ(result.checks.size(), 1U);
  EXPECT_EQ(result.checks[0].sampled, "65 of 4096 CTAs, 65 of 4096 rows compared");
  EXPECT_EQ(result.checks[0].max_abs_error, 0);
}

TEST_F(Sampled, OneWrongElementOfEveryCtaIsFoundWhereItIs) {
  const CorrectnessResult result = check(kernel(R"(
  setp.eq.u32 %p2, %r2, 5;
  @%p2 add.f32 %f2, %f2, 0f3F000000;)"));
  const std::string reason = reason_of(result);
  EXPECT_THAT(reason, AllOf(HasSubstr("shape long"), HasSubstr("max abs error 0.5")));
  const std::size_t name = reason.find("y[");
  ASSERT_NE(name, std::string::npos) << reason;
  EXPECT_EQ(std::stoul(reason.substr(name + 2)) % 64, 5U)
      << "the index counts from the start of the whole output";
}

TEST_F(Sampled, AQuickCheckChecksAPartOfWhatAFullCheckRunsWhole) {
  const std::string wrong_in_one = kernel(R"(
  setp.eq.u32 %p2, %r1, 2501;
  @%p2 add.f32 %f2, %f2, 0f3F000000;)");
  const CorrectnessOptions options = {.flops_of_quick_check = 4096};
  const CorrectnessResult quick = check_by(options, CheckKind::kQuick, wrong_in_one);
  EXPECT_EQ(reason_of(quick), "passed");
  EXPECT_FALSE(quick.complete);
  ASSERT_EQ(quick.checks.size(), 1U);
  EXPECT_EQ(quick.checks[0].sampled, "65 of 4096 CTAs, 65 of 4096 rows compared");
  for (const CheckKind check_kind : {CheckKind::kFull, CheckKind::kAfterQuick}) {
    EXPECT_THAT(reason_of(check_by(options, check_kind, wrong_in_one)),
                ContainsRegex("y.160(0[6-9]|1[0-2])"));
    const CorrectnessResult honest = check_by(options, check_kind, kernel());
    EXPECT_EQ(reason_of(honest), "passed");
    EXPECT_TRUE(honest.complete);
    EXPECT_EQ(honest.checks.size(), 5U);
  }
}

TEST_F(Sampled, AQuickCheckCountsThreadsThatComputeLittle) {
  // The problem declares one operation per thread; the quick check counts flops_of_thread instead.
  const CorrectnessOptions options = {.flops_of_quick_check = 16 * 4096, .flops_of_thread = 16};
  const CorrectnessResult quick = check_by(options, CheckKind::kQuick, kernel());
  EXPECT_EQ(reason_of(quick), "passed");
  ASSERT_EQ(quick.checks.size(), 1U);
  EXPECT_EQ(quick.checks[0].sampled, "65 of 4096 CTAs, 65 of 4096 rows compared");
  for (const CheckKind check_kind : {CheckKind::kFull, CheckKind::kAfterQuick}) {
    const CorrectnessResult whole = check_by(options, check_kind, kernel());
    EXPECT_TRUE(whole.complete);
    EXPECT_EQ(whole.checks.size(), 5U) << "a full check counts only declared operations";
  }
}

TEST_F(Sampled, AQuickCheckOfAPartThatIsWrongIsARejection) {
  const CorrectnessResult result =
      check_by({.flops_of_quick_check = 4096}, CheckKind::kQuick, kernel(R"(
  setp.eq.u32 %p2, %r2, 5;
  @%p2 add.f32 %f2, %f2, 0f3F000000;)"));
  EXPECT_THAT(reason_of(result), HasSubstr("max abs error 0.5"));
}

TEST_F(Sampled, AQuickCheckMakesFewLaunchesOfGridsThatHaveToRunWhole) {
  constexpr double kWork = 64.0 * 4096;
  const std::map<double, std::size_t> seeds_of = {{1, 1}, {2, 1}, {4, 3}, {6, 5}, {100, 5}};
  for (const auto& [launches, seeds] : seeds_of) {
    const CorrectnessResult result =
        check_by({.flops_of_whole_grids = 1e18, .flops_of_quick_check = launches * kWork},
                 CheckKind::kQuick, kernel(), "0");
    EXPECT_EQ(reason_of(result), "passed");
    EXPECT_EQ(result.checks.size(), seeds) << launches;
    EXPECT_EQ(result.complete, launches >= 6) << launches;
  }
}

TEST_F(Sampled, TheLastCtaAlwaysRuns) {
  const CorrectnessResult result = check(kernel(R"(
  setp.eq.u32 %p2, %r1, 4095;
  @%p2 add.f32 %f2, %f2, 0f3F000000;)"));
  EXPECT_THAT(reason_of(result), ContainsRegex("y.2620[89][0-9]|y.2621[0-4][0-9]"));
}

TEST_F(Sampled, AnErrorInHalfOfTheCtasIsFoundWithEverySeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_THAT(reason_of(check(kernel(R"(
  and.b32 %r4, %r1, 1;
  setp.eq.u32 %p2, %r4, 1;
  @%p2 neg.f32 %f2, %f2;)"),
                                "1", seed)),
                HasSubstr("max abs error"));
  }
}

TEST_F(Sampled, AKernelThatWritesTooLittleIsRejected) {
  EXPECT_THAT(reason_of(check(kernel("  setp.lt.u32 %p1, %r2, 20;"))),
              HasSubstr("y[20] was never written"));
}

TEST_F(Sampled, AnOutOfBoundsAccessOfARunCtaIsItsReason) {
  EXPECT_THAT(reason_of(check(kernel("  add.s64 %rd5, %rd5, 1048576;"))),
              AllOf(HasSubstr("shape long"), HasSubstr("out-of-bounds")));
}

TEST_F(Sampled, KernelsThatAreNotDeclaredIndependentRunWhole) {
  const CorrectnessResult result = check(kernel(), "0");
  EXPECT_EQ(reason_of(result), "passed");
  EXPECT_EQ(result.checks[0].sampled, "all 4096 CTAs, 2048 of 4096 rows compared");
  // An element that a CTA does not write is an error.
  EXPECT_THAT(reason_of(check(kernel(R"(
  setp.ne.u32 %p1, %r3, 77;)"),
                              "0")),
              HasSubstr("y[77] was never written"));
}

TEST_F(Sampled, AKernelThatClaimsWorkRunsWholeWhateverIsDeclared) {
  const CorrectnessResult result = check(kernel("  atom.global.add.u32 %r5, [%rd6], 1;"));
  EXPECT_EQ(reason_of(result), "passed");
  EXPECT_THAT(result.checks[0].sampled, HasSubstr("all 4096 CTAs"));
}

TEST_F(Sampled, AReferenceThatNamesTheWrongCtaIsAnErrorOfTheProblem) {
  try {
    (void)check(kernel(), "1", 1, "0 * ROW");
    ADD_FAILURE() << "a reference in which CTA 0 writes only one row was accepted";
  } catch (const ProblemError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("reference.cta_of_row: '0 * ROW'"), HasSubstr("on shape 'long'")));
  }
}

TEST_F(Sampled, ACtaOfARowMustExist) {
  for (const char* cta : {"ROW - 5000", "ROW + 4096", "ROW + 0.5"}) {
    try {
      (void)check(kernel(), "1", 1, cta);
      ADD_FAILURE() << cta;
    } catch (const ProblemError& error) {
      EXPECT_THAT(error.what(), HasSubstr("allowed: the index of a CTA, below 4096"));
    }
  }
}

TEST_F(Sampled, CtasThatMostlyWriteNothingCannotStandForAll) {
  EXPECT_THAT(reason_of(check(kernel(R"(
  and.b32 %r4, %r1, 3;
  setp.eq.u32 %p1, %r4, 0;)"))),
              HasSubstr("y[64] was never written"));
}

/// Each CTA writes a whole row with right values, but several CTAs write the same row, so other
/// rows are never written.
TEST_F(Sampled, CtasThatLoseAPartOfTheirIndexCannotStandForAll) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const char* row :
         {"and.b32 %r4, %r1, 2047", "shr.u32 %r4, %r1, 1",
          "shl.b32 %r4, %r1, 1;\n  and.b32 %r4, %r4, 4095", "rem.u32 %r4, %r1, 3000",
          "div.u32 %r4, %r1, 3;\n  mul.lo.s32 %r4, %r4, 3"}) {
      EXPECT_THAT(reason_of(check(kernel("  " + std::string(row) + R"(;
  mad.lo.s32 %r3, %r4, 64, %r2;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, 0f3F800000;
  add.s64 %rd5, %rd2, %rd3;)"),
                                  "1", seed)),
                  HasSubstr("was never written"))
          << row << ", seed " << seed;
    }
  }
}

TEST_F(Sampled, CtasThatAreSkippedAreFoundThoughNoneOfThemIsDrawn) {
  for (const char* idle : {"rem.u32 %r4, %r1, 7;\n  setp.ne.u32 %p1, %r4, 3",
                           "setp.ne.u32 %p1, %r1, 2501", "setp.ne.u32 %p1, %r3, 160069"}) {
    EXPECT_THAT(reason_of(check(kernel("  " + std::string(idle) + ";"))),
                HasSubstr("was never written"))
        << idle;
  }
}

/// CTAs store only if the workspace, which kernels may write, is 0. Such stores cannot be traced,
/// so the whole grid runs.
TEST_F(Sampled, CtasWhoseStoresDependOnTheirResultsCannotStandForAll) {
  const CorrectnessResult result = check(kernel(R"(
  ld.global.u32 %r4, [%rd6];
  setp.eq.u32 %p1, %r4, 0;)"));
  EXPECT_EQ(reason_of(result), "passed");
  EXPECT_THAT(result.checks.at(0).sampled, HasSubstr("all 4096 CTAs"));
}

TEST_F(Sampled, CtasThatShareAnElementCannotStandForAll) {
  const CorrectnessResult result = check(kernel(R"(
  mov.b32 %r4, %f2;
  shr.u32 %r5, %r4, 16;
  st.global.u16 [%rd5], %r4;
  add.s32 %r6, %r3, 262080;
  and.b32 %r6, %r6, 262143;
  mul.wide.u32 %rd3, %r6, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f1, %f1, 0f3F800000;
  mov.b32 %r4, %f1;
  shr.u32 %r4, %r4, 16;
  add.s64 %rd5, %rd2, %rd3;
  st.global.u16 [%rd5+2], %r4;
  setp.lt.u32 %p1, %r2, 0;)"));
  EXPECT_EQ(reason_of(result), "passed");
  EXPECT_THAT(result.checks.at(0).sampled, HasSubstr("all 4096 CTAs"));
}

TEST_F(Sampled, AToleranceThatTakesAConstantIsAnErrorOfTheProblem) {
  tolerance_ = {{"max_abs_error", 50}, {"bad_abs_error", 50}, {"bad_share", 1}, {"relative_l2", 1}};
  try {
    ADD_FAILURE() << reason_of(check(kernel("  mov.f32 %f2, 0f3F800000;")));
  } catch (const ProblemError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("on shape 'long'"), HasSubstr("the mean")));
  }
}

TEST_F(Sampled, AToleranceThatTakesACopyIsAnErrorOfTheProblem) {
  tolerance_ = {
      {"max_abs_error", 1.5}, {"bad_abs_error", 1.5}, {"bad_share", 1}, {"relative_l2", 1}};
  try {
    ADD_FAILURE() << reason_of(check(kernel()));
  } catch (const ProblemError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("on shape 'long'"), HasSubstr("content of 'x'")));
  }
}

/// A CTA that finds data of another CTA in the workspace can detect whether the whole grid runs, so
/// a kernel that writes to the workspace runs whole.
TEST_F(Sampled, CtasThatLeaveSomethingForOthersCannotStandForAll) {
  const CorrectnessResult result = check(kernel("  st.global.u32 [%rd6], 1;"));
  EXPECT_EQ(reason_of(result), "passed");
  EXPECT_THAT(result.checks[0].sampled, HasSubstr("all 4096 CTAs"));
}

TEST_F(Sampled, CtasThatWritePartsOfRowsCannotStandForAll) {
  // Every CTA writes only half of its row: CTAs with even indices write the first half, the other
  // CTAs the second half.
  const CorrectnessResult result = check(kernel(R"(
  and.b32 %r4, %r1, 1;
  mul.lo.s32 %r4, %r4, 32;
  sub.s32 %r5, %r2, %r4;
  setp.lt.u32 %p1, %r5, 32;)"));
  EXPECT_THAT(reason_of(result), HasSubstr("was never written"));
}

TEST_F(Sampled, OnlyShapesWithRowsInCommonAreSampled) {
  write_file(folder_.path() / "rows.cu", "");
  const auto is_possible = [&](const std::function<void(Json&)>& change) {
    Json json = problem_json("1", "ROW");
    change(json);
    const Problem problem = Problem::parse(json.dump(), folder_.path());
    return SampledCheck::is_possible(problem, problem.shape("long").variables);
  };
  const Json second = {{"name", "z"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", "R"}};
  EXPECT_TRUE(is_possible([](Json&) {}));
  EXPECT_FALSE(is_possible([](Json& json) { json["reference"].erase("cta_of_row"); }));
  EXPECT_FALSE(is_possible([](Json& json) {
    json["arguments"][1].erase("row");
    json["tolerance"].erase("max_row_error");
  }));
  EXPECT_FALSE(is_possible([](Json& json) {
    json["arguments"][1]["direction"] = "inout";
    json["arguments"][1]["generator"] = {{"distribution", "normal"}};
  }));
  EXPECT_FALSE(is_possible([&](Json& json) { json["arguments"].push_back(second); }));
  EXPECT_TRUE(is_possible([&](Json& json) {
    json["arguments"].push_back(second);
    json["arguments"].back()["row"] = 1;
  }));
  EXPECT_FALSE(is_possible([&](Json& json) {
    json["arguments"].push_back(second);
    json["arguments"].back()["row"] = 2;
  }));
}

}  // namespace
}  // namespace evo::sampled_check_test
