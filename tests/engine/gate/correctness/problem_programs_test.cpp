#include "engine/gate/correctness/problem_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/json_reader.hpp"
#include "engine/problem/npy.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

/// A problem whose check program compares the output y with a file. The program writes a line to
/// the file `right` for each equal output, and a line to the file `inputs` each time that it gets
/// the inputs.
class ProgramsTest : public testing::Test {
 protected:
  ProgramsTest() { write_npy(folder_.path() / "good.npy", Dtype::kF32, bytes_of(kGood)); }

  /// `more`: further keys of the problem. `compared_with`: the file of the right output.
  [[nodiscard]] Problem problem(const Json& check, const std::string& compared_with,
                                const Json& more = Json::object()) const {
    write_file(folder_.path() / "k.cu", "");
    write_file(folder_.path() / "check.sh", "[ -e $1/x.npy ] && echo x >> inputs\ncmp -s " +
                                                compared_with +
                                                " $1/output_y.npy || exit 1\necho >> right\n");
    Json json = {
        {"format", "evo-tune problem 1"},
        {"name", "p"},
        {"arguments",
         {{{"name", "x"},
           {"direction", "in"},
           {"dtype", "f32"},
           {"extent", 2},
           {"generator", {{"distribution", "normal"}}}},
          {{"name", "y"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", 2}}}},
        {"shapes", {{"s", {{"variables", {{"N", 1}}}}}}},
        {"tolerance",
         {{"max_abs_error", 0}, {"bad_abs_error", 0}, {"bad_share", 0}, {"relative_l2", 0}}},
        {"flops", 1},
        {"bytes", 1},
        {"check", {{"program", {"sh", "check.sh"}}}},
        {"templates",
         {{"t", {{"source", "k.cu"}, {"entry", "k"}, {"grid", {1}}, {"block", {1}}}}}}};
    json["check"].update(check);
    json.update(more);
    return Problem::parse(json.dump(), folder_.path());
  }

  /// The violation that the check program finds in `output` for the inputs of this seed; nullopt if
  /// the output is right. `expected`: the output of the reference.
  static std::optional<std::string> judged(ProblemPrograms& programs, const Problem& problem,
                                           std::uint64_t seed, const std::vector<float>& output,
                                           const std::vector<float>& expected = {}) {
    const Values values = {{"N", 1}};
    const ProgramCase data{&problem.shapes.front(), seed, &values,
                           [](std::size_t) { return std::vector<std::byte>(8); },
                           [&](std::size_t) { return bytes_of(expected); }};
    return programs.judge(data, {{1, bytes_of(output)}});
  }

  [[nodiscard]] std::size_t lines_of(const std::string& name) const {
    const std::filesystem::path file = folder_.path() / name;
    if (!is_file(file)) return 0;
    const std::string text = read_text_file(file);
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }

  static std::vector<std::byte> bytes_of(const std::vector<float>& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    return {bytes.begin(), bytes.end()};
  }

  const std::vector<float> kGood = {3, 4};
  const std::vector<float> kOther = {5, 6};
  sample::TemporaryFolder folder_;
};

TEST_F(ProgramsTest, JudgesEqualOutputsOfEachSeed) {
  const Problem of = problem(Json::object(), "good.npy");
  ProblemPrograms programs(of);
  for (const std::uint64_t seed : {1, 2, 2, 3}) {
    EXPECT_EQ(judged(programs, of, seed, kGood), std::nullopt);
  }
  EXPECT_EQ(lines_of("right"), 3U);
  EXPECT_GE(lines_of("inputs"), 6U);  // the program also judges zeros, noise and changed outputs
}

TEST_F(ProgramsTest, JudgesEqualOutputsOnceIfTheVerdictDependsOnOutputsOnly) {
  const Problem of = problem({{"outputs_only", true}}, "good.npy");
  ProblemPrograms programs(of);
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(judged(programs, of, seed, kGood), std::nullopt);
    EXPECT_NE(judged(programs, of, seed, kOther), std::nullopt);
  }
  EXPECT_EQ(lines_of("right"), 1U);
  EXPECT_EQ(lines_of("inputs"), 0U);
}

/// A kernel that returns the output of an earlier seed is found, because each seed has its own
/// expected output.
TEST_F(ProgramsTest, JudgesEqualOutputsOfEachSeedIfThereIsAReference) {
  const Problem of = problem({{"outputs_only", true}}, "$1/expected_y.npy",
                             {{"reference", {{"set", Json::object()}}}});
  ProblemPrograms programs(of);
  EXPECT_EQ(judged(programs, of, 1, kGood, kGood), std::nullopt);
  EXPECT_NE(judged(programs, of, 2, kGood, kOther), std::nullopt);
}

}  // namespace
}  // namespace evo
