// Tests evo-judge --outputs, which writes the outputs of one launch of a user's kernel to files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "tests/cli/own_data.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(OwnData, OutputsOfOneLaunchAreWrittenAndNotJudged) {
  kernel(body("3 * x[i]"));
  reference("4 * x[i]");  // wrong, but evo-judge --outputs does not call the reference
  const ProgramResult launched = judge("--outputs left");
  EXPECT_EQ(launched.exit_code, 0) << launched.err;
  EXPECT_EQ(Json::parse(launched.out)["verdict"], "launched, not judged");
  constexpr std::size_t kElements = 1000;
  const std::vector<std::byte> y =
      read_npy(folder_.path() / "left" / "y.npy", Dtype::kF32, kElements);
  EXPECT_NE(y, std::vector<std::byte>(y.size()));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "left" / "x.npy"));
  EXPECT_THAT(judge("--outputs left --device none").err, HasSubstr("--outputs"));
}

TEST_F(OwnData, OutputsReplaceOnlyFilesOfAnEarlierLaunch) {
  namespace fs = std::filesystem;
  kernel(body("3 * x[i]"));
  reference("3 * x[i]");
  write("left/y.npy", "precious");
  const ProgramResult refused = judge("--outputs left");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("y.npy"), HasSubstr("did not write it")));
  EXPECT_EQ(read_text_file(folder_.path() / "left/y.npy"), "precious");
  EXPECT_EQ(judge("--outputs mine").exit_code, 0);
  const std::string first = read_text_file(folder_.path() / "mine/y.npy");
  EXPECT_EQ(judge("--outputs mine --check-seed 5").exit_code, 0);
  EXPECT_NE(read_text_file(folder_.path() / "mine/y.npy"), first);
  const Json index = Json::parse(read_text_file(folder_.path() / "mine/outputs.json"));
  EXPECT_TRUE(index["config"].contains("BLOCK"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path() / "mine"), {}), 2);
}

TEST_F(OwnData, OutputsThatCannotBeWrittenAreNamedAndLeaveNothing) {
  namespace fs = std::filesystem;
  kernel(body("3 * x[i]"));
  reference("3 * x[i]");
  ASSERT_EQ(judge("--outputs mine").exit_code, 0);
  fs::remove(folder_.path() / "mine/y.npy");
  fs::create_directory(folder_.path() / "mine/y.npy");
  const ProgramResult failed = judge("--outputs mine");
  EXPECT_EQ(failed.exit_code, 2) << failed.out;
  EXPECT_THAT(failed.err, HasSubstr("y.npy: cannot be written: Is a directory"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path() / "mine"), {}), 2);
}

TEST_F(OwnData, OutputsAreThoseOfTheInputsInTheFile) {
  constexpr std::size_t kElements = 1000;
  std::vector<float> x(kElements);
  for (std::size_t i = 0; i < kElements; ++i) x[i] = static_cast<float>(i) - 7;
  numbers("x.npy", x);
  problem_["arguments"][0]["generator"] = {{"file", "x.npy"}};
  kernel(body("3 * x[i]"));
  reference("4 * x[i]");
  EXPECT_EQ(judge("--outputs left").exit_code, 0);
  for (float& value : x) value *= 3;
  const auto expected = std::as_bytes(std::span(x));
  EXPECT_EQ(read_npy(folder_.path() / "left" / "y.npy", Dtype::kF32, kElements),
            std::vector<std::byte>(expected.begin(), expected.end()));
}

}  // namespace
}  // namespace evo
