// Tests launch parameters of kernels, and the shapes on which kernels are checked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "engine/core/error.hpp"
#include "engine/problem/problem.hpp"
#include "tests/engine/problem/planted_problem.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

LaunchExpressions launch(const std::string& grid, const std::string& block,
                         const std::string& shared = "0") {
  LaunchExpressions expressions{{}, {}, Expression(shared)};
  expressions.grid.emplace_back(grid);
  expressions.block.emplace_back(block);
  return expressions;
}

TEST(Launch, EvaluatesGridBlockAndSharedMemory) {
  const Values values = {{"N", 1000}, {"T", 128}};
  const LaunchConfig config = launch("ceil_div(N, T)", "T", "4 * T").evaluate(values);
  EXPECT_EQ(config.grid, (std::array<std::uint32_t, 3>{8, 1, 1}));
  EXPECT_EQ(config.block, (std::array<std::uint32_t, 3>{128, 1, 1}));
  EXPECT_EQ(config.dynamic_shared_bytes, 512U);
}

TEST(Launch, RefusesWhatCudaCannotLaunch) {
  for (const auto& [grid, block, shared] :
       {std::tuple("0", "1", "0"), std::tuple("1", "1025", "0"), std::tuple("1.5", "1", "0"),
        std::tuple("1", "0", "0"), std::tuple("3000000000", "1", "0"),
        std::tuple("1", "1", "-4")}) {
    EXPECT_THROW((void)launch(grid, block, shared).evaluate({}), ProblemError)
        << grid << " " << block;
  }
  EXPECT_NO_THROW((void)launch("2147483647", "1024", "0").evaluate({}));
  LaunchExpressions tall = launch("1", "1");
  tall.grid.emplace_back("65536");
  EXPECT_THROW((void)tall.evaluate({}), ProblemError);
}

TEST(CheckedShapes, TheTimedOneFirstThenThoseOfTheSameKernel) {
  const Problem problem =
      Problem::load(std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates/sdpa_fp8");
  const auto names = [&](const char* timed, const KernelSpec& kernel) {
    std::vector<std::string> result;
    for (const Shape* shape : problem.checked_shapes({&problem.shape(timed)}, kernel)) {
      result.push_back(shape->name);
    }
    return result;
  };
  // A kernel is compiled for one HEAD_DIM, so shapes with another HEAD_DIM are not checked.
  const KernelSpec& kernel = problem.kernel("wmma");
  const auto found = names("long", kernel);
  EXPECT_EQ(found.front(), "long");
  EXPECT_THAT(found, testing::UnorderedElementsAre("long", "small", "ragged1", "ragged31",
                                                   "ragged500", "mission"));
  EXPECT_THAT(names("mission_d128", kernel), testing::Each(testing::EndsWith("_d128")));
}

TEST(CheckedShapes, AllTimedOnesFirst) {
  const Problem problem =
      Problem::load(std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates/sdpa_fp8");
  const std::vector<const Shape*> timed = {&problem.shape("long"), &problem.shape("s128")};
  const auto checked = problem.checked_shapes(timed, problem.kernel("wmma"));
  ASSERT_EQ(checked.size(), 7U);
  EXPECT_EQ(checked[0], timed[0]);
  EXPECT_EQ(checked[1], timed[1]);
}

TEST(SelectShapes, ByNamesTagsAndAll) {
  Json json = planted();
  json["shapes"]["single"]["tags"] = {"odd"};
  json["shapes"]["ragged"]["tags"] = {"odd", "small"};
  json["macros"] = {{"IS_TINY", "N < 10"}};
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  const KernelSpec& kernel = problem.templates.front();
  const auto names = [&](const std::string& asked) {
    std::string text;
    for (const Shape* shape : problem.select_shapes(asked, kernel)) text += shape->name + " ";
    return text;
  };
  EXPECT_EQ(names("mission"), "mission ");
  EXPECT_EQ(names("mission,single,mission"), "mission single ");
  EXPECT_EQ(names("tag:small"), "ragged ");
  EXPECT_EQ(names("mission,tag:odd"), "mission ragged single ");
  EXPECT_EQ(names("all"), "mission ragged single ");
  for (const char* unknown : {"", "none", "mission,", "tag:none", "tag:"}) {
    EXPECT_THROW((void)names(unknown), InputError) << unknown;
  }
}

TEST(CheckedShapes, ShapesATemplateDoesNotSupport) {
  Json json = planted();
  json["templates"]["planted"]["shapes_where"] = "N % 2 == 0";
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  const KernelSpec& kernel = problem.templates.front();
  const auto checked = problem.checked_shapes({&problem.shape("mission")}, kernel);
  ASSERT_EQ(checked.size(), 1U);
  try {
    (void)problem.checked_shapes({&problem.shape("ragged")}, kernel);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("ragged"), HasSubstr("N % 2 == 0")));
  }
}

}  // namespace
}  // namespace evo
