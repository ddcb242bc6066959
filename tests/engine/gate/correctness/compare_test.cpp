#include "engine/gate/correctness/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Tolerance kTolerance = {0.06, 0.01, 0.01, 0.002};

std::vector<std::byte> encoded(Dtype dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    encode(dtype, values[i], bytes.data() + i * size_of(dtype));
  }
  return bytes;
}

Comparison compare_as(Dtype dtype, const std::vector<double>& output,
                      const std::vector<double>& expected, std::size_t row_length = 0) {
  return compare(encoded(dtype, output), Expectation(dtype, encoded(dtype, expected)),
                 kTolerance.bad_abs_error, row_length);
}

Comparison compare_f32(const std::vector<double>& output, const std::vector<double>& expected) {
  return compare_as(Dtype::kF32, output, expected);
}

TEST(Compare, FiguresByHand) {
  const Comparison found = compare_f32({1, 2, 3.5, 4}, {1, 2, 3, 4});
  EXPECT_EQ(found.max_abs_error, 0.5);
  EXPECT_EQ(found.bad_share, 0.25);
  EXPECT_DOUBLE_EQ(found.relative_l2, 0.5 / std::sqrt(30.0));
  EXPECT_EQ(found.worst_index, 2U);
  EXPECT_EQ(found.worst_value, "3.5");
  EXPECT_EQ(found.worst_expected, "3");
  EXPECT_EQ(found.compared, 4U);
  EXPECT_EQ(found.non_finite, 0U);
}

TEST(Compare, NanAndInfinityNeverPass) {
  const Tolerance anything = {1e300, 1e300, 1, 1e300};
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    const Comparison found = compare_f32({1, bad, 3}, {1, 2, 3});
    EXPECT_EQ(found.non_finite, 1U);
    EXPECT_EQ(found.worst_index, 1U);
    EXPECT_TRUE(violation(found, anything, "y").has_value());
    // A finite element is also an error if the reference has a non-finite element at the same
    // index.
    EXPECT_TRUE(violation(compare_f32({1, 2, 3}, {1, bad, 3}), anything, "y").has_value());
  }
  EXPECT_TRUE(violation(compare_f32({kInfinity}, {-kInfinity}), anything, "y").has_value());
}

TEST(Compare, ThePlaceOfTheFirstNonFiniteElementIsNamed) {
  const auto why = [](Dtype dtype, double output, double expected) {
    return violation(compare_as(dtype, {1, output, 2}, {1, expected, kNan}), kTolerance, "y")
        .value_or("");
  };
  EXPECT_EQ(why(Dtype::kF32, kNan, 3), "2 non-finite element(s); worst: y[1] = nan, expected 3");
  EXPECT_EQ(why(Dtype::kF16, 0, kNan),
            "2 non-finite element(s); the reference holds the first, where the output is finite; "
            "worst: y[1] = 0, expected nan");
  EXPECT_EQ(why(Dtype::kF32, kInfinity, kNan),
            "2 non-finite element(s); worst: y[1] = inf, expected nan");
  EXPECT_THAT(why(Dtype::kF64, 1.5e308, -1.5e308),
              HasSubstr("2 non-finite element(s); the error of the first overflows a double; "
                        "worst: y[1] = 1.5e+308"));
}

TEST(Compare, TheSameSpecialValueIsEqual) {
  EXPECT_FALSE(violation(compare_f32({kInfinity, 1}, {kInfinity, 1}), kTolerance, "y"));
  EXPECT_FALSE(violation(compare_f32({kNan, 1}, {kNan, 1}), kTolerance, "y"));
}

TEST(Compare, AnAllNanOutputFailsThoughEveryFigureIsZero) {
  const std::vector<double> expected(100, 1.0);
  const Comparison found = compare_f32(std::vector<double>(100, kNan), expected);
  EXPECT_EQ(found.max_abs_error, 0);
  EXPECT_TRUE(violation(found, kTolerance, "y").has_value());
}

TEST(Compare, EachBoundIsNamedWhenItIsTheOneBroken) {
  const std::vector<double> ones(1000, 1.0);
  std::vector<double> output = ones;
  output[17] = 1.1;
  EXPECT_THAT(violation(compare_f32(output, ones), kTolerance, "o").value(),
              HasSubstr("max abs error 0.1 > 0.06; worst: o[17] = 1.1, expected 1"));
  output = ones;
  for (std::size_t i = 0; i < 20; ++i) output[i * 3] = 1.02;
  EXPECT_THAT(violation(compare_f32(output, ones), kTolerance, "o").value(),
              HasSubstr("share of bad elements 0.02 > 0.01"));
  output.assign(1000, 1.005);
  EXPECT_THAT(violation(compare_f32(output, ones), kTolerance, "o").value(),
              HasSubstr("relative L2 error 0.005 > 0.002"));
  output.assign(1000, 1.001);
  EXPECT_FALSE(violation(compare_f32(output, ones), kTolerance, "o"));
}

/// An output of zeros is rejected even if the tolerance is so wide that every error is within it.
TEST(Compare, ZerosNeverPassForWhatIsNotZero) {
  const std::vector<double> expected = {0.5, -3, 1e-7};
  const Tolerance loose{1e300, 1e300, 1, 1};
  EXPECT_THAT(violation(compare_f32({0, 0, 0}, expected), loose, "y").value(),
              HasSubstr("no better than zeros"));
  EXPECT_FALSE(violation(compare_f32({0.5, -1, 0}, expected), loose, "y"));
  EXPECT_FALSE(violation(compare_f32({0, 0, 0}, {0, 0, 0}), loose, "y"));
}

TEST(Compare, NothingComparedNeverPasses) {
  const Comparison nothing = compare_f32({}, {});
  EXPECT_EQ(nothing.compared, 0U);
  EXPECT_THAT(violation(nothing, {1e300, 1e300, 1, 1e300}, "y").value(),
              HasSubstr("no element of 'y' was compared"));
}

TEST(Compare, AnOutputOfAnotherSizeIsAnError) {
  const Expectation two(Dtype::kF32, encoded(Dtype::kF32, {1, 2}));
  EXPECT_THROW((void)compare(encoded(Dtype::kF32, {1}), two, 1), InputError);
  EXPECT_THROW((void)compare(encoded(Dtype::kF32, {1, 2, 3}), two, 1), InputError);
  EXPECT_THROW((void)compare(encoded(Dtype::kF32, {1, 2}), two, 1, 4), InputError);
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

TEST(Compare, WideIntegersAreComparedToTheLastBit) {
  const Tolerance exact = {0, 0, 0, 0};
  constexpr std::int64_t kLarge = (std::int64_t{1} << 62) + 12345;
  for (const std::int64_t change : {1, -1, 63}) {
    const Comparison found = compare(bytes_of<std::int64_t>({5, kLarge + change}),
                                     {Dtype::kI64, bytes_of<std::int64_t>({5, kLarge})}, 0);
    EXPECT_EQ(found.max_abs_error, std::fabs(static_cast<double>(change)));
    EXPECT_EQ(found.bad_share, 0.5);
    EXPECT_GT(found.relative_l2, 0);
    EXPECT_EQ(found.worst_value, std::to_string(kLarge + change));
    EXPECT_EQ(found.worst_expected, std::to_string(kLarge));
    EXPECT_TRUE(violation(found, exact, "y"));
  }
  const auto top = std::numeric_limits<std::uint64_t>::max();
  const Comparison high =
      compare(bytes_of<std::uint64_t>({top - 1}), {Dtype::kU64, bytes_of<std::uint64_t>({top})}, 0);
  EXPECT_EQ(high.max_abs_error, 1);
  EXPECT_FALSE(violation(
      compare(bytes_of<std::uint64_t>({top}), {Dtype::kU64, bytes_of<std::uint64_t>({top})}, 0),
      exact, "y"));
  // The error is as large as the whole range of the type.
  const Comparison ends =
      compare(bytes_of<std::int64_t>({std::numeric_limits<std::int64_t>::min()}),
              {Dtype::kI64, bytes_of<std::int64_t>({std::numeric_limits<std::int64_t>::max()})}, 0);
  EXPECT_EQ(ends.max_abs_error, 0x1.0p64);
}

TEST(Compare, TinyAndHugeNumbersHaveARelativeErrorToo) {
  for (const double size : {1e-170, 1e-300, 1e170, 1e300}) {
    const Comparison found = compare_as(Dtype::kF64, {-size, size}, {size, -size});
    EXPECT_NEAR(found.relative_l2, 2, 1e-12) << size;
    const Comparison row = compare_as(Dtype::kF64, {-size, size}, {size, -size}, 2);
    EXPECT_NEAR(row.max_row_error, 2, 1e-12) << size;
  }
}

TEST(Compare, AZeroReferenceAllowsOnlyZero) {
  const std::vector<double> zeros(10, 0.0);
  EXPECT_FALSE(violation(compare_f32(zeros, zeros), kTolerance, "y"));
  EXPECT_EQ(compare_f32(std::vector<double>(10, 1e-30), zeros).relative_l2, kInfinity);
}

Comparison compare_rows(const std::vector<double>& output, const std::vector<double>& expected,
                        std::size_t row_length) {
  return compare_as(Dtype::kF32, output, expected, row_length);
}

TEST(Compare, ErrorsRelativeToTheirRowByHand) {
  // The two rows have an rms of 5 and 0.5. The first row has the larger error, the second row the
  // larger relative error.
  const std::vector<double> expected = {7, 1, 0.1, 0.7};
  const Comparison found = compare_rows({7.5, 1, 0.1, 0.5}, expected, 2);
  EXPECT_NEAR(found.max_row_error, 0.4, 1e-7);  // |0.5 - 0.7| / 0.5; f32 rounds 0.7
  EXPECT_EQ(found.worst_row_index, 3U);
  EXPECT_EQ(found.worst_row_value, "0.5");
  EXPECT_EQ(found.worst_row_expected, "0.7");
  EXPECT_EQ(found.worst_index, 0U);
  EXPECT_NEAR(compare_rows({7.5, 1, 0.1, 0.5}, expected, 4).max_row_error,
              0.5 / std::sqrt((49 + 1 + 0.01 + 0.49) / 4), 1e-7);
  EXPECT_EQ(compare_rows({7.5, 1, 0.1, 0.5}, expected, 0).max_row_error, 0);
}

TEST(Compare, TheWorstRowIsKeptThoughABetterOneFollows) {
  const Comparison found = compare_rows({7, 1.5, 0.1, 0.71}, {7, 1, 0.1, 0.7}, 2);
  EXPECT_NEAR(found.max_row_error, 0.1, 1e-7);
  EXPECT_EQ(found.worst_row_index, 1U);
}

TEST(Compare, IntegersAreShownWithAllTheirDigits) {
  const auto text = [](Dtype dtype, double value) {
    return element_text(dtype, encoded(dtype, {value}).data());
  };
  EXPECT_EQ(text(Dtype::kI32, -1234567), "-1234567");
  EXPECT_EQ(text(Dtype::kU8, 255), "255");
  EXPECT_EQ(text(Dtype::kF32, -1234567), "-1.235e+06");
  const std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(element_text(Dtype::kU64, std::as_bytes(std::span(&top, 1)).data()),
            "18446744073709551615");
}

TEST(Compare, ARowOfZerosAllowsOnlyZero) {
  const std::vector<double> expected = {0, 0, 3, 4};
  EXPECT_EQ(compare_rows({0, 0, 3, 4}, expected, 2).max_row_error, 0);
  EXPECT_EQ(compare_rows({0, 1e-30, 3, 4}, expected, 2).max_row_error, kInfinity);
}

TEST(Compare, NonFiniteElementsAreNoPartOfARowsSize) {
  // The error of the finite elements is compared with the rms of the row's finite elements.
  const Comparison found = compare_rows({kInfinity, 3, 5}, {kInfinity, 3, 4}, 3);
  EXPECT_NEAR(found.max_row_error, 1 / std::sqrt(12.5), 1e-7);
}

TEST(Compare, TheRowsBoundIsNamedWithItsOwnWorstElement) {
  std::vector<double> expected(1000, 1.0);
  std::fill_n(expected.begin() + 500, 10, 0.01);
  std::vector<double> output = expected;
  output[3] = 1.005;
  output[504] = 0.012;
  Tolerance tolerance = kTolerance;
  EXPECT_FALSE(violation(compare_rows(output, expected, 10), tolerance, "o"));
  tolerance.max_row_error = 0.1;
  EXPECT_THAT(violation(compare_rows(output, expected, 10), tolerance, "o").value(),
              HasSubstr("error relative to the row 0.2 > 0.1; worst: o[504] = 0.012, "
                        "expected 0.01"));
}

TEST(Compare, NanBoundsPassNothing) {
  Tolerance no_rows = {1, 1, 1, 1};
  no_rows.max_row_error = kNan;
  EXPECT_TRUE(violation(compare_f32({1}, {1}), no_rows, "y").has_value());
  const Tolerance broken = {kNan, kNan, kNan, kNan};
  EXPECT_TRUE(violation(compare_f32({1}, {1}), broken, "y").has_value());
}

/// Attention averages S values of unit variance, so the rms of its output falls as S grows. For
/// large S, nearly all elements are smaller than the absolute bound, but an output of zeros must
/// fail for every S.
class ZeroAttention : public testing::TestWithParam<double> {};

TEST_P(ZeroAttention, FailsByTheTolerancesOfTheShippedProblem) {
  const double rms = GetParam();
  const Problem problem =
      Problem::load(std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates/sdpa_fp8");
  Random random(1);
  std::vector<double> expected(4096);
  for (double& value : expected) value = rms * random.normal();
  const std::vector<double> zeros(expected.size(), 0.0);
  const Expectation f16(Dtype::kF16, encoded(Dtype::kF16, expected));
  for (const KernelSpec& kernel : problem.templates) {
    Tolerance tolerance;
    try {
      tolerance = kernel.tolerance.evaluate({});
    } catch (const std::exception&) {
      continue;  // bounds that depend on macros; the largest is tested below
    }
    const Comparison found = compare(encoded(Dtype::kF16, zeros), f16, tolerance.bad_abs_error);
    EXPECT_TRUE(violation(found, tolerance, "o").has_value()) << kernel.name << ", rms " << rms;
    EXPECT_NEAR(found.relative_l2, 1, 1e-12);
  }
  // The largest relative L2 of all shipped tolerances is 4 %, for attention with P in fp8.
  const Comparison found = compare(encoded(Dtype::kF16, zeros), f16, 0.01);
  EXPECT_TRUE(violation(found, {0.06, 0.01, 0.01, 0.04}, "o").has_value());
}

/// Rows of `length` elements like those of causal attention: row n averages over n + 1 keys, so its
/// rms is 1 / sqrt(n + 1).
std::vector<double> causal_rows(std::size_t rows, std::size_t length, Random& random) {
  std::vector<double> values;
  for (std::size_t row = 0; row < rows; ++row) {
    const double rms = 1 / std::sqrt(static_cast<double>(row + 1));
    for (std::size_t i = 0; i < length; ++i) values.push_back(rms * random.normal());
  }
  return values;
}

Tolerance shipped_fp8_tolerance() {
  const Problem problem =
      Problem::load(std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates/sdpa_fp8");
  return problem.kernel("mma").tolerance.evaluate(
      {{"PV_MODE", 1}, {"PV_MODE_FP8", 1}, {"QK_MODE", 0}, {"QK_MODE_FP8", 1}});
}

TEST(ShippedFp8Tolerance, StopsOneRowThatIsWrongThoughItsErrorsAreSmall) {
  Random random(5);
  constexpr std::size_t kLength = 64;
  const std::vector<double> expected = causal_rows(2048, kLength, random);
  const Tolerance tolerance = shipped_fp8_tolerance();
  const auto judge = [&](const std::vector<double>& output, bool by_rows) {
    return violation(compare(encoded(Dtype::kF32, output),
                             Expectation(Dtype::kF32, encoded(Dtype::kF32, expected)),
                             tolerance.bad_abs_error, by_rows ? kLength : 0),
                     tolerance, "o");
  };
  std::vector<double> output = expected;
  std::fill_n(output.begin() + 2000 * kLength, kLength, 0.0);
  EXPECT_FALSE(judge(output, false)) << "the other bounds do not detect one wrong row of 2048";
  EXPECT_THAT(judge(output, true).value_or("passed"), HasSubstr("error relative to the row"));
  // The errors of a correct kernel: normal noise of 2.6 % of each row's rms, and one error of about
  // 0.1 in the first row.
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double rms = 1 / std::sqrt(static_cast<double>(i / kLength + 1));
    output[i] = expected[i] + 0.026 * rms * random.normal();
  }
  output[3] = expected[3] + 0.105;
  EXPECT_EQ(judge(output, true).value_or("passed"), "passed");
}

TEST(ZeroAttention, WouldPassTheAbsoluteBoundAloneAtLongSequences) {
  const std::vector<double> expected(1000, 0.037);
  const Comparison found = compare_f32(std::vector<double>(1000, 0.0), expected);
  EXPECT_LE(found.max_abs_error, kTolerance.max_abs_error);
}

// The parameters are the measured rms of attention's output at S = 1, 32, 512, 2048, 8192 with N(0,
// 1) inputs.
INSTANTIATE_TEST_SUITE_P(Lengths, ZeroAttention, testing::Values(1.0, 0.29, 0.072, 0.037, 0.018));

}  // namespace
}  // namespace evo
