// Replays the corpora without a fuzzer, so that faults that a fuzzer has found stay fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.hpp"

namespace evo::test {
namespace {

/// The time limit for one input in seconds. An input that takes longer would slow down fuzzers and
/// users.
constexpr double kMostSeconds = 20;

std::vector<std::filesystem::path> inputs_of(std::string_view target) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder =
      std::filesystem::path(EVO_SOURCE_DIR) / "tests/fuzz/corpus" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class FuzzCorpus : public testing::TestWithParam<fuzz::FuzzTarget> {};

TEST_P(FuzzCorpus, HoldsNoFinding) {
  const auto files = inputs_of(GetParam().name);
  EXPECT_GE(files.size(), 5U);
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NO_THROW(GetParam().run(content_of(file)));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), kMostSeconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, testing::ValuesIn(fuzz::fuzz_targets()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace evo::test
