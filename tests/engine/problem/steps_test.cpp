// Tests templates whose launch consists of several steps: valid and rejected descriptions in a
// problem file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/problem/external_names.hpp"
#include "engine/problem/known_names.hpp"
#include "tests/engine/problem/planted_problem.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Json step(const std::string& entry) {
  return {{"entry", entry}, {"grid", {"ceil_div(N, 32)"}}, {"block", {32}}};
}

/// Replaces the launch of the template of problem "planted" by `steps`.
void put_steps(Json& file, const Json& steps) {
  Json& kernel = file["templates"]["planted"];
  for (const char* key : {"entry", "grid", "block", "dynamic_shared_bytes"}) kernel.erase(key);
  kernel["steps"] = steps;
}

Problem with_steps(const Json& steps) {
  Json json = planted();
  put_steps(json, steps);
  return Problem::parse(json.dump(), planted_folder());
}

std::string refused(const Json& steps) {
  return complaint([&](Json& file) { put_steps(file, steps); });
}

TEST(Steps, OneEntryIsOneStep) {
  const Problem problem = Problem::load(planted_folder());
  const KernelSpec& kernel = problem.templates.front();
  EXPECT_TRUE(kernel.is_plain());
  EXPECT_THAT(kernel.entries(), ElementsAre("planted"));
  const LaunchPlan plan = kernel.launch({{"N", 64}, {"THREADS", 32}, {"ITEMS", 1}, {"SHARED", 0}});
  ASSERT_EQ(plan.steps.size(), 1U);
  EXPECT_FALSE(plan.steps.front().arguments);
}

TEST(Steps, EachHasItsLaunchItsArgumentsAndItsCondition) {
  Json first = step("first");
  first["arguments"] = {"y", "x"};
  Json second = step("second<THREADS>");
  second["block"] = {"THREADS"};
  second["dynamic_shared_bytes"] = "4 * THREADS";
  second["when"] = "THREADS > 32";
  const Problem problem = with_steps({first, second, step("first")});
  const KernelSpec& kernel = problem.templates.front();
  EXPECT_FALSE(kernel.is_plain());
  EXPECT_THAT(kernel.entries(), ElementsAre("first", "second<THREADS>"));
  const LaunchPlan all = kernel.launch({{"N", 96}, {"THREADS", 64}});
  ASSERT_EQ(all.steps.size(), 3U);
  EXPECT_THAT(*all.steps[0].arguments, ElementsAre(1, 0));
  EXPECT_EQ(all.steps[1].entry, 1U);
  EXPECT_EQ(all.steps[1].config.dynamic_shared_bytes, 256U);
  EXPECT_EQ(all.steps[2].entry, 0U);
  EXPECT_FALSE(all.steps[2].arguments);
  EXPECT_EQ(all.ctas(), 9U);
  EXPECT_EQ(kernel.launch({{"N", 96}, {"THREADS", 32}}).steps.size(), 2U);
}

TEST(Steps, ConstraintsKnowTheSharedMemoryOfTheLargest) {
  Json first = step("first");
  first["dynamic_shared_bytes"] = 100;
  Json second = step("second");
  second["dynamic_shared_bytes"] = "8 * THREADS";
  second["when"] = "THREADS > 32";
  const Problem problem = with_steps({first, second});
  const Formulas formulas = formulas_for_constraints(problem, problem.templates.front(),
                                                     problem.shapes.front(), DeviceInfo{});
  const Expression bytes(formulas.at("DYNAMIC_SHARED_BYTES"));
  EXPECT_EQ(bytes.evaluate({{"THREADS", 32}}), 100);
  EXPECT_EQ(bytes.evaluate({{"THREADS", 64}}), 512);
}

TEST(Steps, StandInPlaceOfAnEntry) {
  EXPECT_THAT(
      complaint(
          [](Json& file) { file["templates"]["planted"]["steps"] = Json::array({step("first")}); }),
      AllOf(HasSubstr("templates.planted.entry"), HasSubstr("cannot be combined with \"steps\"")));
  EXPECT_THAT(refused(Json::array()), HasSubstr("templates.planted.steps"));
  Json nameless = step("first");
  nameless.erase("entry");
  EXPECT_THAT(refused(Json::array({nameless})), HasSubstr("templates.planted.steps[0]"));
  Json more = step("first");
  more["grids"] = 1;
  EXPECT_THAT(refused({step("first"), more}), AllOf(HasSubstr("steps[1]"), HasSubstr("grids")));
}

TEST(Steps, TakeArgumentsThatThereAre) {
  Json unknown = step("first");
  unknown["arguments"] = {"x", "z"};
  EXPECT_THAT(refused(Json::array({unknown})),
              AllOf(HasSubstr("templates.planted.steps[0].arguments"),
                    HasSubstr("'z' cannot be an argument of a step"), HasSubstr("x, y")));
  Json reads = step("first");
  reads["arguments"] = {"x"};
  EXPECT_THAT(refused({reads, reads}), HasSubstr("no step takes output 'y'"));
}

TEST(Steps, OneOfThemRuns) {
  Json never = step("first");
  never["when"] = 0;
  EXPECT_THAT(refused(Json::array({never})), HasSubstr("no step of 'planted' runs"));
  never["when"] = "THREADS > 32";
  const Problem problem = with_steps(Json::array({never}));
  EXPECT_THROW((void)problem.templates.front().launch({{"N", 96}, {"THREADS", 32}}), ProblemError);
}

TEST(Steps, WhatIsLeftOutNeedsNoLaunch) {
  Json left_out = step("first");
  left_out["grid"] = {0};
  EXPECT_THAT(refused({step("second"), left_out}), HasSubstr("grid is 0"));
  left_out["when"] = "N > 1e9";
  EXPECT_EQ(refused({step("second"), left_out}), "");
  EXPECT_EQ(
      with_steps({step("second"), left_out}).templates.front().launch({{"N", 96}}).steps.size(),
      1U);
}

TEST(Steps, NamesInConditionsAreKnown) {
  Json second = step("second");
  second["when"] = "PARTS > 1";
  const Problem problem = with_steps({step("first"), second});
  try {
    require_known_names(problem, problem.templates.front(), {{"N", 1}, {"THREADS", 1}});
    FAIL() << "the unknown name PARTS was accepted";
  } catch (const ProblemError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("templates.planted.steps[1].when"),
                                    HasSubstr("unknown name 'PARTS'")));
  }
}

TEST(Steps, APartOfTheirGridsStandsForNothing) {
  const auto with_key = [](const std::string& kernel, const char* key) {
    return complaint([&](Json& file) {
      put_steps(file, {step("first"), step("second")});
      Json& reference = file["reference"];
      for (const char* own : {"entry", "grid", "block", "dynamic_shared_bytes"})
        reference.erase(own);
      reference["steps"] = {step("first"), step("second")};
      (kernel.empty() ? reference : file["templates"][kernel])[key] = "1";
    });
  };
  EXPECT_THAT(with_key("planted", "independent_ctas"),
              AllOf(HasSubstr("templates.planted.independent_ctas"),
                    HasSubstr("not supported with several steps")));
  EXPECT_THAT(with_key("", "cta_of_row"), HasSubstr("reference.cta_of_row: not supported"));
}

}  // namespace
}  // namespace evo
