#include "tests/engine/gate/correctness/made_outputs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "engine/core/random.hpp"

namespace evo {
namespace {

/// Number of elements of an output, and elements per row (0: no rows). Some outputs are larger than
/// the 4096 elements that a warp of the check kernels processes at once.
struct Size {
  std::size_t elements;
  std::size_t row_length;
};
constexpr std::array kSizes = {Size{1, 0},         Size{33, 0},  Size{1000, 0}, Size{9001, 0},
                               Size{1, 1},         Size{96, 32}, Size{333, 37}, Size{9000, 4500},
                               Size{12291, 12291}, Size{640, 64}};

std::vector<std::byte> random_bits(std::size_t bytes, Random& random) {
  std::vector<std::byte> data(bytes);
  for (std::byte& byte : data) byte = std::byte(random.below(256));
  return data;
}

std::vector<double> normal(std::size_t count, Random& random) {
  std::vector<double> values(count);
  for (double& value : values) value = 20 * random.normal();
  return values;
}

class Maker {
 public:
  Maker(Dtype dtype, Size size, Random& random) : dtype_(dtype), size_(size), random_(random) {}

  [[nodiscard]] std::vector<MadeOutput> all() {
    std::vector<MadeOutput> made;
    const std::size_t count = size_.elements;
    const std::vector<double> right = normal(count, random_);
    made.push_back(of("equal", encoded(dtype_, right), encoded(dtype_, right)));
    std::vector<double> near = right;
    for (double& value : near) value += 0.5 * random_.normal();
    made.push_back(of("near", encoded(dtype_, near), encoded(dtype_, right)));
    std::vector<double> single = right;
    single[random_.below(count)] += 7;
    made.push_back(of("one wrong", encoded(dtype_, single), encoded(dtype_, right)));
    // Adds an output whose errors are all about equally large; the first of the largest errors must
    // be reported.
    std::vector<double> shifted = right;
    for (double& value : shifted) value += 2;
    made.push_back(of("shifted", encoded(dtype_, shifted), encoded(dtype_, right)));
    made.push_back(
        of("for zeros", encoded(dtype_, near), encoded(dtype_, std::vector<double>(count, 0.0))));
    const std::size_t bytes = count * size_of(dtype_);
    made.push_back(of("bits", random_bits(bytes, random_), random_bits(bytes, random_)));
    MadeOutput some = made.back();
    some.name += ", some of them";
    some.output = some.expected;
    const std::vector<std::byte> other = random_bits(bytes, random_);
    for (std::size_t i = 0; i < count; i += 1 + random_.below(5)) {
      std::memcpy(some.output.data() + i * size_of(dtype_), other.data() + i * size_of(dtype_),
                  size_of(dtype_));
    }
    made.push_back(some);
    if (dtype_ == Dtype::kF64) add_extremes(made);
    return made;
  }

 private:
  /// Adds outputs with elements whose squares overflow or become zero.
  void add_extremes(std::vector<MadeOutput>& made) {
    for (const double scale : {1e300, 1e160, 1e-160, 1e-240, 1e-300, 5e-324}) {
      std::vector<double> expected = normal(size_.elements, random_);
      for (double& value : expected) value *= scale;
      std::vector<double> output = expected;
      for (double& value : output) value += scale * random_.normal();
      made.push_back(of("times " + std::to_string(std::log10(scale)), encoded(dtype_, output),
                        encoded(dtype_, expected)));
      for (std::size_t i = 0; i < expected.size(); i += 2)
        expected[i] = output[i] = random_.normal();
      made.push_back(of("mixed with " + std::to_string(std::log10(scale)), encoded(dtype_, output),
                        encoded(dtype_, expected)));
    }
  }

  [[nodiscard]] MadeOutput of(const std::string& kind, std::vector<std::byte> output,
                              std::vector<std::byte> expected) const {
    return {std::string(to_string(dtype_)) + ", " + std::to_string(size_.elements) +
                " in rows of " + std::to_string(size_.row_length) + ", " + kind,
            dtype_,
            std::move(output),
            std::move(expected),
            1.0,
            size_.row_length};
  }

  Dtype dtype_;
  Size size_;
  Random& random_;
};

void expect_near_sum(double found, double expected) {
  if (found == expected) return;  // also if both are infinite
  EXPECT_NEAR(found, expected, 1e-12 * std::fabs(expected));
}

}  // namespace

std::vector<std::byte> encoded(Dtype dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    encode(dtype, values[i], bytes.data() + i * size_of(dtype));
  }
  return bytes;
}

std::vector<MadeOutput> made_outputs(std::uint64_t seed) {
  Random random(seed);
  std::vector<MadeOutput> made;
  for (const DtypeRow& row : dtype_rows()) {
    const Dtype dtype = row.dtype;
    for (const Size& size : kSizes) {
      for (MadeOutput& output : Maker(dtype, size, random).all()) made.push_back(std::move(output));
    }
  }
  return made;
}

void expect_same(const Comparison& found, const Comparison& expected) {
  EXPECT_EQ(found.compared, expected.compared);
  EXPECT_EQ(found.max_abs_error, expected.max_abs_error);
  EXPECT_EQ(found.bad_share, expected.bad_share);
  expect_near_sum(found.relative_l2, expected.relative_l2);
  expect_near_sum(found.max_row_error, expected.max_row_error);
  EXPECT_EQ(found.worst_row_index, expected.worst_row_index);
  EXPECT_EQ(found.worst_row_value, expected.worst_row_value);
  EXPECT_EQ(found.worst_row_expected, expected.worst_row_expected);
  EXPECT_EQ(found.non_finite, expected.non_finite);
  EXPECT_EQ(found.worst_index, expected.worst_index);
  EXPECT_EQ(found.worst_value, expected.worst_value);
  EXPECT_EQ(found.worst_expected, expected.worst_expected);
  EXPECT_EQ(found.worst_is_finite, expected.worst_is_finite);
  EXPECT_EQ(found.worst_expected_is_finite, expected.worst_expected_is_finite);
}

}  // namespace evo
