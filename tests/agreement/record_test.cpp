// Tests writing and reading a record of outputs, and comparing outputs, with made-up outputs.

#include "tests/agreement/record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/random.hpp"
#include "tests/agreement/comparison.hpp"

namespace evo::agreement {
namespace {

std::filesystem::path scratch_file(const char* name) {
  return std::filesystem::path(testing::TempDir()) / name;
}

Bytes random_bytes(Random& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.bits());
  return bytes;
}

Record sample() {
  Random random(3);
  Record record{"cuda:0", "NVIDIA H200", "sm_90", "CUDA driver 13.0", "nvrtc 13.0", "2026-11-21"};
  record.sources = {{"a.cu", ".version 9.0", "0123"}};
  record.cases = {{"k", "a.cu", "ffff", {random_bytes(random, 13), random_bytes(random, 8)}}};
  for (int i = 0; i < 30; ++i) {
    const RecordedRun run{"small", "eeee", {random_bytes(random, 64), random_bytes(random, 7), {}}};
    record.candidates.push_back({"s.json", R"({"A":1})", std::to_string(i), {run}});
  }
  record.faults = {"kernel 'x': launch failed"};
  return record;
}

TEST(Record, ComesBackFromItsFileAsItWas) {
  const Record record = sample();
  const auto file = scratch_file("agreement.gz");
  write_record(record, file);
  const Record back = read_record(file);
  EXPECT_EQ(back.device_name, record.device_name);
  EXPECT_EQ(back.faults, record.faults);
  EXPECT_EQ(back.source_of("a.cu").ptx, ".version 9.0");
  ASSERT_EQ(back.cases.size(), 1U);
  EXPECT_EQ(back.cases[0].outputs, record.cases[0].outputs);
  ASSERT_EQ(back.candidates.size(), record.candidates.size());
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    EXPECT_EQ(back.candidates[i].ptx_hash, record.candidates[i].ptx_hash);
    EXPECT_EQ(back.candidates[i].runs.at(0).outputs, record.candidates[i].runs[0].outputs);
  }
}

TEST(Record, OtherFilesAreRefused) {
  const auto file = scratch_file("agreement.bad");
  write_file(file, "{\"format\": 1}");
  EXPECT_THROW((void)read_record(file), InputError);
  EXPECT_THROW((void)sample().source_of("b.cu"), InputError);
}

Outputs one_output(const std::vector<float>& values) { return {bytes_of(values)}; }

TEST(Comparison, HoldsEachColumnToItsBound) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  AgreementCase data{"k", "a.cu", {}};
  data.out(4, Dtype::kF32, {{}, {.relative = 1e-3, .absolute = 0}});
  const auto compare = [&](const std::vector<float>& recorded, const std::vector<float>& got) {
    return compare_case(data, one_output(recorded), one_output(got));
  };
  EXPECT_EQ(compare({1, 1000, -2, NAN}, {1, 1000.9F, -2, -NAN}).outside, 0U);
  EXPECT_EQ(compare({1, 1000, -2, 3}, {1, 1000.9F, -2, 3}).identical, 3U);
  EXPECT_EQ(compare({1, 1000, -2, 3}, {1, 1001.1F, -2, 3}).outside, 1U);
  EXPECT_EQ(compare({1, 0, -2, 3}, {std::nextafter(1.0F, 2.0F), 0, -2, 3}).outside, 1U);
  EXPECT_EQ(compare({0, 0, 0, 0}, {-0.0F, 0, 0, 0}).outside, 1U);  // bits, not values
  EXPECT_EQ(compare({1, kInfinity, 1, NAN}, {1, 3e38F, 1, 1}).outside, 2U);
  EXPECT_THROW((void)compare({1, 2, 3, 4}, {1, 2, 3}), InputError);
}

TEST(Comparison, FiguresOfARunNeverLetNanPass) {
  AgreementCase data{"k", "a.cu", {}};
  data.out(4, Dtype::kF32);
  const auto compare = [&](const std::vector<float>& got) {
    return compare_run(data, one_output({3, -4, 3, -4}), one_output(got));
  };
  EXPECT_EQ(compare({3, -4, 3, -4}).max_over_rms, 0);
  const RunComparison off = compare({3, -4, 3.5F, -4});
  EXPECT_EQ(off.identical, 3U);
  EXPECT_NEAR(off.max_over_rms, 0.5 / std::sqrt(12.5), 1e-9);
  EXPECT_NEAR(off.relative_l2, 0.5 / std::sqrt(50.0), 1e-9);
  EXPECT_TRUE(std::isinf(compare({3, -4, NAN, -4}).max_over_rms));
}

}  // namespace
}  // namespace evo::agreement
