// Tests the special values (zeros, limits, denormals, …) that are placed among the random values of
// an input to reveal wrong kernels.

#include "engine/problem/special_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/core/error.hpp"
#include "engine/problem/generator_json.hpp"

namespace evo {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

Generator parsed(const std::string& text, Dtype dtype) {
  const Json json = parse_json(text, "problem.json");
  return parse_generator(JsonReader(json, "problem.json", "generator"), dtype);
}

std::vector<double> drawn(const std::string& text, Dtype dtype, const Draw& draw = {1},
                          std::size_t count = 100'000) {
  return decode_all(dtype, generate(parsed(text, dtype), dtype, count, draw));
}

std::ptrdiff_t how_many(const std::vector<double>& values,
                        const std::function<bool(double)>& is_it) {
  return std::ranges::count_if(values, is_it);
}

bool is_zero(double x) { return x == 0 && !std::signbit(x); }
bool is_minus_zero(double x) { return x == 0 && std::signbit(x); }

std::size_t equal_neighbours(const std::vector<double>& values) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < values.size(); ++i) count += values[i] == values[i - 1] ? 1 : 0;
  return count;
}

/// The length of the longest sequence of adjacent elements in ascending or descending order.
std::size_t longest_in_order(const std::vector<double>& values) {
  std::size_t longest = 0;
  for (const bool is_rising : {true, false}) {
    std::size_t length = 1;
    for (std::size_t i = 1; i < values.size(); ++i) {
      const bool is_on = is_rising ? values[i - 1] <= values[i] : values[i] <= values[i - 1];
      length = is_on ? length + 1 : 1;
      longest = std::max(longest, length);
    }
  }
  return longest;
}

std::string refusal(const std::string& text, Dtype dtype) {
  try {
    (void)parsed(text, dtype);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(SpecialValues, AFewOfEachKindStandInEveryFloatingInput) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    const auto values = drawn(R"({"distribution": "normal"})", dtype);
    const double largest_denormal = 1023 * smallest_denormal(dtype);
    const auto is_denormal = [&](double x) { return x != 0 && std::fabs(x) <= largest_denormal; };
    const Extremes ends = extremes_of(parsed(R"({"distribution": "normal"})", dtype), dtype);
    const auto round = [&](double x) { return dtype == Dtype::kF32 ? static_cast<float>(x) : x; };
    EXPECT_GT(how_many(values, is_zero), 10);
    EXPECT_GT(how_many(values, is_minus_zero), 10);
    EXPECT_GT(how_many(values, is_denormal), 20);
    EXPECT_GT(how_many(values, [&](double x) { return is_denormal(x) && x < 0; }), 10);
    EXPECT_GT(how_many(values, [&](double x) { return x == round(ends.low); }), 10);
    EXPECT_GT(how_many(values, [&](double x) { return x == round(ends.high); }), 10);
    EXPECT_GT(equal_neighbours(values), 10U);
    // On average, only one in kElementsPerSpecial elements is a special value of any kind: 195 of
    // 100,000 elements.
    EXPECT_LT(how_many(values, [&](double x) { return std::fabs(x) < 1e-30; }), 200);
    EXPECT_EQ(how_many(values, [](double x) { return std::isfinite(x); }), 100'000);
  }
}

TEST(SpecialValues, ShorterTypesHaveTheirCounterparts) {
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kE5m2, Dtype::kF16, Dtype::kBf16}) {
    // A uniform distribution from -1 to 400 gives, on average, fewer than ten denormals in 100,000
    // values, so most denormals that the test finds are special values.
    const auto values = drawn(R"({"distribution": "uniform", "low": -1, "high": 400})", dtype);
    EXPECT_GT(how_many(values, is_minus_zero), 5) << to_string(dtype);
    const double normal =
        smallest_denormal(dtype) * static_cast<double>(whole_range(dtype).above) / 2;
    const auto is_denormal = [&](double x) { return x != 0 && std::fabs(x) < normal; };
    EXPECT_GT(how_many(values, is_denormal), 20) << to_string(dtype);
  }
}

TEST(SpecialValues, NoneLiesOutsideOfTheDistribution) {
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kF16, Dtype::kF32, Dtype::kF64}) {
    for (const double value : drawn(R"({"distribution": "uniform", "low": 0.5, "high": 1})", dtype))
      ASSERT_TRUE(value >= 0.5 && value <= 1) << to_string(dtype) << " " << value;
    const auto positive = drawn(R"({"distribution": "uniform", "low": 0, "high": 1})", dtype);
    EXPECT_EQ(how_many(positive, [](double x) { return std::signbit(x); }), 0) << to_string(dtype);
    EXPECT_GT(how_many(positive, is_zero), 5) << to_string(dtype);
    const auto negative = drawn(R"({"distribution": "uniform", "low": -2, "high": -1})", dtype);
    EXPECT_EQ(how_many(negative, [](double x) { return x < -2 || x > -1; }), 0);
    // Zeros are no special values of a distribution whose mean is far from zero.
    const auto far = drawn(R"({"distribution": "normal", "mean": 100, "std": 1})", dtype);
    EXPECT_EQ(how_many(far, [](double x) { return x < 90; }), 0) << to_string(dtype);
  }
  const auto below_one = drawn(R"({"distribution": "uniform", "low": 0, "high": 1})", Dtype::kF32);
  EXPECT_EQ(how_many(below_one, [](double x) { return x >= 1; }), 0);
  EXPECT_GT(how_many(below_one, [](double x) { return x == 1 - 0x1.0p-24; }), 10);
}

TEST(SpecialValues, IntegersHaveTheirEnds) {
  const std::string text =
      R"({"distribution": "integers", "low": -2000000000, "high": 1999999999})";
  const auto values = drawn(text, Dtype::kI32);
  EXPECT_GT(how_many(values, [](double x) { return x == -2000000000; }), 10);
  EXPECT_GT(how_many(values, [](double x) { return x == 1999999999; }), 10);
  EXPECT_GT(how_many(values, is_zero), 10);
  EXPECT_EQ(how_many(values, [](double x) { return x < -2000000000 || x > 1999999999; }), 0);
  const auto positive =
      drawn(R"({"distribution": "integers", "low": 5, "high": 2000})", Dtype::kF32);
  EXPECT_EQ(how_many(positive, [](double x) { return x < 5 || x > 2000 || x != std::floor(x); }),
            0);
  const auto limits = drawn(
      R"({"distribution": "integers", "low": 1, "high": 9, "with": ["limits"]})", Dtype::kI32);
  EXPECT_GT(how_many(limits, [](double x) { return x == -2147483648.0; }), 10);
  EXPECT_GT(how_many(limits, [](double x) { return x == 2147483647.0; }), 10);
}

TEST(SpecialValues, AProblemAsksForMoreAndExcludes) {
  const auto values = drawn(
      R"({"distribution": "normal", "with": ["limits", "infinity", "nan"], "without": ["zero"]})",
      Dtype::kF32);
  const double largest = largest_finite(Dtype::kF32);
  EXPECT_GT(how_many(values, [&](double x) { return x == largest; }), 5);
  EXPECT_GT(how_many(values, [&](double x) { return x == -largest; }), 5);
  EXPECT_GT(how_many(values, [](double x) { return x == kEndless; }), 5);
  EXPECT_GT(how_many(values, [](double x) { return x == -kEndless; }), 5);
  EXPECT_GT(how_many(values, [](double x) { return std::isnan(x); }), 5);
  EXPECT_EQ(how_many(values, [](double x) { return x == 0; }), 0);
  const auto plain = drawn(
      R"({"distribution": "normal", "without": ["zero", "denormal", "equal", "ends", "runs"]})",
      Dtype::kF64, {1, true});
  EXPECT_EQ(how_many(plain, [](double x) { return std::fabs(x) < 1e-300; }), 0);
  EXPECT_EQ(equal_neighbours(plain), 0U);
  EXPECT_LT(longest_in_order(plain), 16U);
}

TEST(SpecialValues, OneDrawHasRuns) {
  const std::string text = R"({"distribution": "normal"})";
  for (const Dtype dtype : {Dtype::kF16, Dtype::kF64}) {
    EXPECT_LT(longest_in_order(drawn(text, dtype, {1, false})), 30U);
    const auto values = drawn(text, dtype, {1, true});
    EXPECT_GT(longest_in_order(values), 100U);
    EXPECT_GT(equal_neighbours(values), 1000U);
    // The sequences of equal or ordered elements replace less than a tenth of the elements.
    const auto usual = drawn(text, dtype, {1, false});
    std::size_t same = 0;
    for (std::size_t i = 0; i < values.size(); ++i) same += values[i] == usual[i] ? 1 : 0;
    EXPECT_GT(same, values.size() * 9 / 10);
  }
  const std::string only_runs =
      R"({"distribution": "normal", "without": ["zero", "denormal", "equal", "ends"]})";
  EXPECT_GE(longest_in_order(drawn(only_runs, Dtype::kF64, {1, true}, 64)), 32U);
}

TEST(SpecialValues, WhatIsEqualInSeveralInputsStandsInOne) {
  const auto values = drawn(R"({"distribution": "normal"})", Dtype::kF32, {1, false, false});
  EXPECT_EQ(how_many(values, [](double x) { return x == 0; }), 0);
  EXPECT_GT(how_many(values, [](double x) { return std::fabs(x) < 1e-30; }), 20);
  EXPECT_EQ(how_many(values, [](double x) { return std::fabs(x) > 6; }), 0);
}

TEST(SpecialValues, ShortInputsHaveFewAndTheShortestNone) {
  const std::string text = R"({"distribution": "normal"})";
  const std::string plain =
      R"({"distribution": "normal", "without": ["zero", "denormal", "equal", "ends", "runs"]})";
  for (std::size_t count = 1; count < 31; ++count) {
    EXPECT_EQ(drawn(text, Dtype::kF32, {1, true}, count),
              drawn(plain, Dtype::kF32, {1, true}, count));
  }
  for (const std::size_t count : {32, 64, 500}) {
    const auto values = drawn(text, Dtype::kF32, {1}, count);
    const auto usual = drawn(plain, Dtype::kF32, {1}, count);
    std::size_t other = 0;
    for (std::size_t i = 0; i < count; ++i) other += values[i] != usual[i] ? 1 : 0;
    EXPECT_GE(other, 1U);
    EXPECT_LE(other, count / 8);
  }
}

TEST(SpecialValues, ARestThatIsTooShortForARunHasNone) {
  const std::string runs =
      R"({"distribution": "normal", "without": ["zero", "denormal", "equal", "ends"]})";
  const std::string plain =
      R"({"distribution": "normal", "without": ["zero", "denormal", "equal", "ends", "runs"]})";
  constexpr std::size_t kPart = 2048;
  for (const std::size_t rest : {1, 5, 31}) {
    const auto values = drawn(runs, Dtype::kF32, {1, true}, kPart + rest);
    const auto usual = drawn(plain, Dtype::kF32, {1, true}, kPart + rest);
    EXPECT_NE(values, usual);
    EXPECT_TRUE(std::equal(values.begin() + kPart, values.end(), usual.begin() + kPart)) << rest;
  }
}

TEST(SpecialValues, EndsOfIntegersCanBeExcluded) {
  const auto values = drawn(
      R"({"distribution": "integers", "low": -2000000000, "high": 1999999999, "without": ["ends"]})",
      Dtype::kI32);
  EXPECT_EQ(how_many(values, [](double x) { return x == -2000000000 || x == 1999999999; }), 0);
  EXPECT_GT(how_many(values, is_zero), 10);
}

TEST(SpecialValues, WordsThatMeanNothingAreRefused) {
  EXPECT_EQ(refusal(R"({"distribution": "normal", "with": ["infinity"]})", Dtype::kE4m3),
            "problem.json: generator.with: [\"infinity\"]: 'infinity': allowed for e4m3: "
            "limits, nan");
  EXPECT_EQ(refusal(R"({"distribution": "normal", "with": ["zero"]})", Dtype::kF32),
            "problem.json: generator.with: [\"zero\"]: 'zero': allowed for f32: limits, "
            "infinity, nan");
  EXPECT_EQ(refusal(R"({"distribution": "integers", "low": 0, "high": 9, "without": ["denormal"]})",
                    Dtype::kI32),
            "problem.json: generator.without: [\"denormal\"]: 'denormal': allowed for i32: "
            "zero, equal, ends, runs");
  EXPECT_EQ(
      refusal(R"({"distribution": "constant", "value": 1, "without": ["zero"]})", Dtype::kF32),
      "problem.json: generator.without: [\"zero\"]: unknown key; allowed: distribution, value");
}

}  // namespace
}  // namespace evo
