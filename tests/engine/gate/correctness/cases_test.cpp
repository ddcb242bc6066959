#include "engine/gate/correctness/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"
#include "tests/fakes/fake_device.hpp"

namespace evo {
namespace {

/// A problem file in which a kernel computes y from x and the constant "factors".
std::string problem_text(const std::filesystem::path& folder) {
  write_file(folder / "k.cu", "");
  const Json normal = {{"distribution", "normal"}};
  const Json json = {
      {"format", "evo-tune problem 1"},
      {"name", "p"},
      {"arguments",
       {{{"name", "x"},
         {"direction", "in"},
         {"dtype", "f32"},
         {"extent", 64},
         {"generator", normal}},
        {{"name", "y"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", "64 * MACRO"}},
        {{"name", "factors"},
         {"kind", "constant"},
         {"dtype", "f32"},
         {"extent", 8},
         {"generator", normal}}}},
      {"shapes", {{"one", {{"variables", {{"N", 1}}}}}, {"two", {{"variables", {{"N", 2}}}}}}},
      {"tolerance",
       {{"max_abs_error", 0}, {"bad_abs_error", 0}, {"bad_share", 0}, {"relative_l2", 0}}},
      {"flops", 1},
      {"bytes", 1},
      {"check", {{"program", {"true"}}}},
      {"templates", {{"t", {{"source", "k.cu"}, {"entry", "k"}, {"grid", {1}}, {"block", {1}}}}}}};
  return json.dump();
}

Problem problem_with_constant(const std::filesystem::path& folder) {
  return Problem::parse(problem_text(folder), folder);
}

/// A fake device with measured times, on which loading a kernel always fails.
fake::FakeDevice device_without_kernels() {
  return fake::FakeDevice(
      {fake::fake_info(TimeKind::kMeasured),
       [](const fake::Program&) -> std::variant<fake::Kernel, Fault> { return Fault{"none"}; },
       {}});
}

TEST(Cases, LaunchesThatAreTimedTogetherShareTheirConstants) {
  const sample::TemporaryFolder folder;
  const Problem problem = problem_with_constant(folder.path());
  fake::FakeDevice device = device_without_kernels();
  const auto work = make_host_work(device);
  ProblemPrograms programs(problem);
  // Cases 4 and 5 are used only by checks, not by timings.
  CaseSet cases(*work, problem, programs, std::nullopt,
                {.seed = 9, .first_of_checks = 4, .end_of_checks = 6});
  const auto content = [&](const std::string& shape, std::size_t index, std::size_t argument) {
    return work->kept().content(*cases.inputs(problem.shape(shape), index).inputs[argument]);
  };
  constexpr std::size_t kX = 0;
  constexpr std::size_t kFactors = 2;
  for (const std::size_t index : {1U, 3U, 6U, 7U}) {
    EXPECT_EQ(content("one", index, kFactors), content("one", 0, kFactors)) << index;
    EXPECT_NE(content("one", index, kX), content("one", 0, kX)) << index;
  }
  EXPECT_NE(content("one", 4, kFactors), content("one", 0, kFactors));
  EXPECT_NE(content("one", 5, kFactors), content("one", 4, kFactors));
  EXPECT_NE(content("two", 0, kFactors), content("one", 0, kFactors));
}

TEST(Cases, ThatDoNotFitAreRefusedBeforeAnInputIsMade) {
  const sample::TemporaryFolder folder;
  const Problem problem = problem_with_constant(folder.path());
  fake::FakeDevice device = device_without_kernels();
  const auto work = make_host_work(device);
  ProblemPrograms programs(problem);
  CaseSet cases(*work, problem, programs, std::nullopt, {.seed = 9});
  const Shape& shape = problem.shape("two");
  int made = 0;
  cases.report_to([&](const std::string&) { ++made; });
  // A case has 64 + 8 floats; the size of y depends on the kernel.
  device.set_use({.total_bytes = 1000, .used_bytes = 100});
  EXPECT_NO_THROW(cases.require_room(shape, 3));
  try {
    cases.require_room(shape, 4);
    ADD_FAILURE() << "nothing thrown";
  } catch (const ProblemError& error) {
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr("shapes.two: the buffers of 4 more case(s) of inputs and outputs "
                           "take 1152 bytes, but " +
                           device.info().id + " has 1000 bytes of memory, and 100 are in use"));
  }
  (void)cases.inputs(shape, 0);
  EXPECT_NO_THROW(cases.require_room(shape, 4));
  EXPECT_EQ(made, 2);
  device.set_use({.total_bytes = 1000, .used_bytes = 800});
  EXPECT_THROW((void)cases.inputs(shape, 1), ProblemError);
  EXPECT_EQ(made, 2);
  EXPECT_NO_THROW(cases.require_room(shape, 1));
}

TEST(Cases, ContentsThatDoNotDependOnTheSeedAreKeptOnce) {
  const sample::TemporaryFolder folder;
  Json json = Json::parse(problem_text(folder.path()));
  json["arguments"][0]["generator"] = {{"distribution", "constant"}, {"value", 2}};
  const Problem problem = Problem::parse(json.dump(), folder.path());
  fake::FakeDevice device = device_without_kernels();
  const auto work = make_host_work(device);
  ProblemPrograms programs(problem);
  CaseSet cases(*work, problem, programs, std::nullopt,
                {.seed = 9, .first_of_checks = 0, .end_of_checks = 2});
  const CheckCase& first = cases.inputs(problem.shape("one"), 0);
  const CheckCase& second = cases.inputs(problem.shape("one"), 1);
  EXPECT_EQ(second.inputs[0], first.inputs[0]);
  EXPECT_NE(second.inputs[2], first.inputs[2]);  // input 2 is random
  const auto buffer = std::get<BufferId>(second.arguments[0]);
  EXPECT_NE(buffer, std::get<BufferId>(first.arguments[0]));
  std::vector<std::byte> content(64 * sizeof(float));
  device.memory().download(buffer, content);
  EXPECT_EQ(content, work->kept().content(*first.inputs[0]));
  EXPECT_NE(cases.inputs(problem.shape("two"), 0).inputs[0], first.inputs[0]);
}

TEST(Cases, ATextureNeedsADeviceThatHasThem) {
  const sample::TemporaryFolder folder;
  Json json = Json::parse(problem_text(folder.path()));
  json["arguments"][2] = {{"name", "plane"},
                          {"kind", "texture"},
                          {"dtype", "f32"},
                          {"width", 8},
                          {"generator", {{"distribution", "normal"}}}};
  const Problem problem = Problem::parse(json.dump(), folder.path());
  fake::FakeDevice device = device_without_kernels();
  const auto work = make_host_work(device);
  ProblemPrograms programs(problem);
  CaseSet cases(*work, problem, programs, std::nullopt, {.seed = 9});
  try {
    (void)cases.inputs(problem.shape("one"), 0);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "texture 'plane': not supported on fake GPU");
  }
}

}  // namespace
}  // namespace evo
