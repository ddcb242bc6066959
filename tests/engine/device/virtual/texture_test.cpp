#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Compares texture fetches with an independent implementation of "Texture Fetching" in the CUDA C++
// Programming Guide. For wrap and mirror, the test moves an index into range step by step, whereas
// the virtual GPU computes remainders.

namespace evo::test {
namespace {

struct Point {
  float x;
  float y;
};

/// The values of channel 0 of a texture.
struct Plane {
  std::vector<float> texels;
  int width;
  int height;
};

double texel(const Plane& plane, const TextureSpec& spec, long i, long j) {
  const auto place = [](long index, long size, TextureAddress mode) -> long {
    switch (mode) {
      case TextureAddress::kBorder:
        return index < 0 || index >= size ? -1 : index;
      case TextureAddress::kClamp:
        return std::min(std::max(index, 0L), size - 1);
      case TextureAddress::kWrap:
        while (index < 0) index += size;
        while (index >= size) index -= size;
        return index;
      case TextureAddress::kMirror:
        while (index < 0 || index >= size) index = index < 0 ? -1 - index : 2 * size - 1 - index;
        return index;
    }
    return -1;
  };
  const long x = place(i, plane.width, spec.address[0]);
  const long y = place(j, plane.height, spec.address[1]);
  if (x < 0 || y < 0) return 0;
  return static_cast<double>(plane.texels[static_cast<std::size_t>(y * plane.width + x)]);
}

float expected(const Plane& plane, const TextureSpec& spec, Point at) {
  double x = static_cast<double>(at.x);
  double y = static_cast<double>(at.y);
  if (spec.normalized_coordinates) {
    x *= plane.width;
    y *= plane.height;
  }
  if (!spec.linear_filter) {
    return static_cast<float>(
        texel(plane, spec, static_cast<long>(std::floor(x)), static_cast<long>(std::floor(y))));
  }
  const double xb = x - 0.5;
  const double yb = spec.height == 0 ? 0 : y - 0.5;
  const long i = static_cast<long>(std::floor(xb));
  const long j = static_cast<long>(std::floor(yb));
  const double a = std::round((xb - std::floor(xb)) * 256) / 256;
  const double b = std::round((yb - std::floor(yb)) * 256) / 256;
  return static_cast<float>(
      (1 - a) * (1 - b) * texel(plane, spec, i, j) + a * (1 - b) * texel(plane, spec, i + 1, j) +
      (1 - a) * b * texel(plane, spec, i, j + 1) + a * b * texel(plane, spec, i + 1, j + 1));
}

class Textures : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
  std::optional<Fault> launch(const char* entry, std::size_t threads,
                              const std::vector<KernelArgument>& arguments) {
    static const std::string ptx = compile_to_ptx(kernel_source("textures.cu"), "compute_89");
    const auto ctas = static_cast<std::uint32_t>((threads + 63) / 64);
    return gpu_.run(ptx, entry, {{ctas, 1, 1}, {64, 1, 1}, 0}, arguments);
  }
  static KernelArgument n(std::size_t value) { return ScalarArgument::of(static_cast<int>(value)); }

  std::vector<float> floats(std::size_t count, double low, double high) {
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(low + (high - low) * random_.uniform());
    return values;
  }
  std::vector<Point> points(std::size_t count, double low, double high) {
    std::vector<Point> values(count);
    for (Point& v : values) v = {floats(1, low, high)[0], floats(1, low, high)[0]};
    return values;
  }

  /// Fetches a texture at the points `at` and compares the results with those of expected().
  void check_plane(const TextureSpec& spec, const Plane& plane, const std::vector<Point>& at) {
    const BufferId source = gpu_.input("texels", plane.texels);
    const TextureId texture = gpu_.device().textures()->make_texture(spec, source);
    const BufferId out = gpu_.output<float>("out", at.size());
    ASSERT_EQ(text_of(launch("sample_plane", at.size(),
                             {texture, gpu_.input("at", at), out, n(at.size())})),
              "");
    const auto got = gpu_.read<float>(out, at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      ASSERT_EQ(got[i], expected(plane, spec, at[i])) << "at " << at[i].x << ", " << at[i].y;
    }
  }

  TestGpu gpu_;
  Random random_{11};
};

TEST_F(Textures, LinearMemoryByWholeCoordinates) {
  const auto texels = floats(100, -5, 5);
  const BufferId source = gpu_.input("texels", texels);
  const TextureId texture = gpu_.device().textures()->make_texture(
      {.name = "line", .width = 90, .storage = TextureStorage::kLinear}, source);
  const std::vector<int> at = {0, 1, 89, 90, 99, -1, 2147483647, -2147483647 - 1, 45};
  const BufferId out = gpu_.output<float>("out", at.size());
  ASSERT_EQ(text_of(launch("fetch_floats", at.size(),
                           {texture, gpu_.input("at", at), out, n(at.size())})),
            "");
  const auto got = gpu_.read<float>(out, at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const bool inside = at[i] >= 0 && at[i] < 90;
    EXPECT_EQ(got[i], inside ? texels[static_cast<std::size_t>(at[i])] : 0.0F) << at[i];
  }
}

TEST_F(Textures, IntegersKeepTheirSign) {
  std::vector<std::int16_t> texels(4 * 8);
  for (std::size_t i = 0; i < texels.size(); ++i)
    texels[i] = static_cast<std::int16_t>(1000 * static_cast<int>(i) - 16000);
  const BufferId source = gpu_.input("texels", texels);
  const TextureId texture =
      gpu_.device().textures()->make_texture({.name = "words",
                                              .type = TexelType::kS16,
                                              .channels = 4,
                                              .width = 8,
                                              .storage = TextureStorage::kLinear},
                                             source);
  const std::vector<int> at = {0, 7, 3};
  const BufferId out = gpu_.output<int>("out", 4 * at.size());
  ASSERT_EQ(text_of(launch("fetch_integers", at.size(),
                           {texture, gpu_.input("at", at), out, n(at.size())})),
            "");
  const auto got = gpu_.read<int>(out, 4 * at.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], texels[4 * static_cast<std::size_t>(at[i / 4]) + i % 4]);
}

TEST_F(Textures, APlaneByEveryFilterAddressModeAndCoordinate) {
  const Plane plane{floats(16 * 9, -2, 2), 16, 9};
  using enum TextureAddress;
  for (const bool normalized : {false, true}) {
    for (const TextureAddress x : {kClamp, kBorder, kWrap, kMirror}) {
      for (const TextureAddress y : {kClamp, kBorder, kWrap, kMirror}) {
        const bool repeats = x == kWrap || x == kMirror || y == kWrap || y == kMirror;
        if (repeats && !normalized) continue;
        for (const bool linear : {false, true}) {
          const TextureSpec spec{.name = "plane",
                                 .width = 16,
                                 .height = 9,
                                 .linear_filter = linear,
                                 .address = {x, y},
                                 .normalized_coordinates = normalized};
          check_plane(spec, plane, points(200, normalized ? -2.5 : -20, normalized ? 3.5 : 40));
        }
      }
    }
  }
}

TEST_F(Textures, WeightsHaveEightBitsOfFraction) {
  const Plane plane{{0, 1, 0, 1}, 2, 2};
  const TextureSpec spec{.name = "step", .width = 2, .height = 2, .linear_filter = true};
  // At x = 0.8, the weight of the second texel is 0.3, or 76.8 steps of 1/256, which is rounded to
  // 77.
  const BufferId source = gpu_.input("texels", plane.texels);
  const TextureId texture = gpu_.device().textures()->make_texture(spec, source);
  const std::vector<Point> at = {{0.8F, 1.0F}, {0.5F, 1.0F}, {1.5F, 0.2F}, {1.499F, 1.0F}};
  const BufferId out = gpu_.output<float>("out", at.size());
  ASSERT_EQ(text_of(launch("sample_plane", at.size(),
                           {texture, gpu_.input("at", at), out, n(at.size())})),
            "");
  EXPECT_EQ(gpu_.read<float>(out, 4), (std::vector<float>{77 / 256.0F, 0, 1, 1}));
}

TEST_F(Textures, ALineIsFilteredInOneDimension) {
  const Plane plane{floats(32, 0, 10), 32, 1};
  const TextureSpec spec{.name = "line",
                         .width = 32,
                         .linear_filter = true,
                         .address = {TextureAddress::kWrap, TextureAddress::kClamp},
                         .normalized_coordinates = true};
  const auto at = floats(128, -1, 2);
  const TextureId texture =
      gpu_.device().textures()->make_texture(spec, gpu_.input("texels", plane.texels));
  const BufferId out = gpu_.output<float>("out", at.size());
  ASSERT_EQ(
      text_of(launch("sample_line", at.size(), {texture, gpu_.input("at", at), out, n(at.size())})),
      "");
  const auto got = gpu_.read<float>(out, at.size());
  for (std::size_t i = 0; i < at.size(); ++i)
    EXPECT_EQ(got[i], expected(plane, spec, {at[i], 0})) << at[i];
}

TEST_F(Textures, BytesAsIntegersAndAsNormalizedValues) {
  std::vector<std::uint8_t> texels(4 * 8 * 3);
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::uint8_t>(7 * i + 3);
  const BufferId source = gpu_.input("texels", texels);
  TextureSpec spec{.name = "bytes",
                   .type = TexelType::kU8,
                   .channels = 4,
                   .width = 8,
                   .height = 3,
                   .storage = TextureStorage::kPitched};
  const std::vector<Point> at = {{0.5F, 0.5F}, {7.9F, 2.1F}, {3, 1}, {-4, 50}};
  const std::vector<std::size_t> index = {0, 23, 11, 16};
  const BufferId points = gpu_.input("at", at);
  const BufferId bytes = gpu_.output<std::uint8_t>("out", 16);
  const TextureId integers = gpu_.device().textures()->make_texture(spec, source);
  ASSERT_EQ(text_of(launch("sample_bytes", 4, {integers, points, bytes, n(4)})), "");
  spec.normalized_values = true;
  const TextureId normalized = gpu_.device().textures()->make_texture(spec, source);
  const BufferId values = gpu_.output<float>("out", 16);
  ASSERT_EQ(text_of(launch("sample_plane4", 4, {normalized, points, values, n(4)})), "");
  const auto got = gpu_.read<std::uint8_t>(bytes, 16);
  const auto got_values = gpu_.read<float>(values, 16);
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint8_t want = texels[4 * index[i / 4] + i % 4];
    EXPECT_EQ(got[i], want);
    EXPECT_EQ(got_values[i], static_cast<float>(want) / 255.0F);
  }
}

TEST_F(Textures, HalvesBecomeFloats) {
  const std::vector<std::uint16_t> texels = {0x3c00, 0xc000, 0x3555, 0x7c00};  // 1, −2, ⅓, ∞
  const TextureId texture = gpu_.device().textures()->make_texture(
      {.name = "halves", .type = TexelType::kF16, .width = 4, .storage = TextureStorage::kLinear},
      gpu_.input("texels", texels));
  const BufferId out = gpu_.output<float>("out", 4);
  const std::vector<int> at = {0, 1, 2, 3};
  ASSERT_EQ(text_of(launch("fetch_floats", 4, {texture, gpu_.input("at", at), out, n(4)})), "");
  EXPECT_EQ(gpu_.read<float>(out, 4),
            (std::vector<float>{1, -2, 0.333251953125F, std::numeric_limits<float>::infinity()}));
}

TEST_F(Textures, AViewFollowsItsBufferAndAnArrayDoesNot) {
  const BufferId source = gpu_.inout("texels", std::vector<float>(8 * 2, 1.0F));
  const TextureSpec spec{
      .name = "view", .width = 8, .height = 2, .storage = TextureStorage::kPitched};
  const TextureSpec copied{.name = "copy", .width = 8, .height = 2};
  const TextureId view = gpu_.device().textures()->make_texture(spec, source);
  const TextureId array = gpu_.device().textures()->make_texture(copied, source);
  const std::vector<float> twos(8 * 2, 2.0F);
  gpu_.device().memory().upload(source, std::as_bytes(std::span(twos)));
  const BufferId out = gpu_.output<float>("out", 64);
  ASSERT_EQ(text_of(launch("sample_two", 64, {view, array, out})), "");
  EXPECT_EQ(gpu_.read<float>(out, 2), (std::vector<float>{2, 1}));
}

TEST_F(Textures, MisuseIsAFaultAndNoCrash) {
  const BufferId source = gpu_.input("texels", std::vector<float>(64));
  const BufferId at = gpu_.input("at", std::vector<float>(4, 0.5F));
  const BufferId out = gpu_.output<float>("out", 4);
  const auto reason = [&](const char* entry, const KernelArgument& texture) {
    const auto fault = launch(entry, 1, {texture, at, out, n(1)});
    return fault ? fault->reason.substr(0, fault->reason.find(", in thread")) : std::string();
  };
  EXPECT_EQ(reason("sample_line", ScalarArgument::of(std::uint64_t{5})),
            "invalid operand: there is no texture with the handle 5");
  const TextureSpec linear{.name = "t", .width = 64, .storage = TextureStorage::kLinear};
  EXPECT_EQ(reason("sample_line", gpu_.device().textures()->make_texture(linear, source)),
            "invalid operand: texture 't' lies in linear memory, which only tex1Dfetch reads");
  EXPECT_EQ(reason("sample_plane", gpu_.device().textures()->make_texture(linear, source)),
            "invalid operand: texture 't' has one dimension, the instruction reads two");
  const TextureSpec integers{.name = "t", .type = TexelType::kU32, .width = 64};
  EXPECT_EQ(reason("sample_line", gpu_.device().textures()->make_texture(integers, source)),
            "invalid operand: texture 't' gives integers, the instruction reads floating-point "
            "values");
  const TextureId released = gpu_.device().textures()->make_texture(linear, source);
  gpu_.device().textures()->release_texture(released);
  EXPECT_THROW((void)reason("sample_line", released), InputError);
}

TEST_F(Textures, AViewGoesWithItsBuffer) {
  const BufferId source = gpu_.input("texels", std::vector<float>(64));
  const TextureSpec linear{.name = "t", .width = 64, .storage = TextureStorage::kLinear};
  const TextureId texture = gpu_.device().textures()->make_texture(linear, source);
  gpu_.device().memory().release(source);
  const auto fault =
      launch("fetch_floats", 1,
             {texture, gpu_.input("at", std::vector<int>{1}), gpu_.output<float>("out", 1), n(1)});
  ASSERT_TRUE(fault.has_value());
  EXPECT_TRUE(fault->reason.starts_with("invalid operand: there is no texture")) << fault->reason;
}

TEST_F(Textures, TexelsAndChannelsThatNobodyWroteAreReported) {
  const BufferId source = gpu_.output<float>("texels", 64);
  const TextureSpec one{.name = "t", .width = 8, .height = 8};
  const BufferId at = gpu_.input("at", std::vector<float>{0.5F, 0.5F});
  const auto unwritten = launch("sample_plane", 1,
                                {gpu_.device().textures()->make_texture(one, source), at,
                                 gpu_.output<float>("out", 1), n(1)});
  ASSERT_TRUE(unwritten.has_value());
  EXPECT_TRUE(unwritten->reason.starts_with("uninitialised data:")) << unwritten->reason;
  const BufferId whole = gpu_.input("texels", std::vector<float>(64));
  const auto missing = launch(
      "sample_plane4", 1,
      {gpu_.device().textures()->make_texture(one, whole), at, gpu_.output<float>("out", 4), n(1)});
  ASSERT_TRUE(missing.has_value());
  EXPECT_TRUE(missing->reason.starts_with("uninitialised data:")) << missing->reason;
}

TEST(TextureSpec, WhatCudaDoesNotTakeIsRefusedWithWhatIsAllowed) {
  const auto reason = [](const TextureSpec& spec) {
    try {
      check_texture(spec, 4096);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using enum TextureStorage;
  EXPECT_EQ(reason({.name = "t", .width = 16, .height = 16}), "");
  EXPECT_EQ(reason({.name = "t", .channels = 3, .width = 16}),
            "texture 't': 3 channels: allowed: 1, 2 and 4");
  EXPECT_EQ(reason({.name = "t", .width = 0}), "texture 't': width 0: allowed: 1 to 131072");
  EXPECT_EQ(reason({.name = "t", .width = 64, .height = 64}),
            "texture 't': the texels take 16384 bytes, but the buffer has 4096");
  EXPECT_EQ(reason({.name = "t", .width = 9, .height = 9, .storage = kPitched}),
            "texture 't': a row of 36 bytes: allowed: multiples of 32");
  EXPECT_EQ(reason({.name = "t", .width = 9, .height = 9, .storage = kLinear}),
            "texture 't': linear memory has one dimension: its height is 0");
  EXPECT_EQ(reason({.name = "t", .type = TexelType::kU8, .width = 9, .linear_filter = true}),
            "texture 't': linear filtering is for floating-point texels and normalized values");
  EXPECT_EQ(reason({.name = "t", .width = 9, .normalized_values = true}),
            "texture 't': normalized values are for integers of 8 and 16 bits");
  EXPECT_EQ(reason({.name = "t", .width = 9, .address = {TextureAddress::kWrap}}),
            "texture 't': wrap and mirror need normalized coordinates");
}

}  // namespace
}  // namespace evo::test
