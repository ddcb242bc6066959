#include "engine/device/virtual/memory/texture_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"

namespace evo::ptx {
namespace {

constexpr double kWeightSteps = 256;  // 8 fraction bits

/// The index of the texel that is read for an index along a dimension of `size` texels; nullopt if
/// the index is outside and the address mode is "border", so that zero is read.
std::optional<std::int64_t> place_index(std::int64_t index, std::int64_t size,
                                        TextureAddress mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case TextureAddress::kClamp:
      return std::clamp<std::int64_t>(index, 0, size - 1);
    case TextureAddress::kWrap:
      return (index % size + size) % size;
    case TextureAddress::kMirror: {
      const std::int64_t turn = (index % (2 * size) + 2 * size) % (2 * size);
      return turn < size ? turn : 2 * size - 1 - turn;
    }
    case TextureAddress::kBorder:
      break;
  }
  return std::nullopt;
}

std::int64_t height_of(const TextureSpec& spec) {
  return static_cast<std::int64_t>(std::max<std::size_t>(spec.height, 1));
}

/// One channel of a texel, as the 32 bits that a register receives.
std::uint32_t channel_value(const TextureSpec& spec, const std::byte* at) {
  const auto real = [&](float value) { return std::bit_cast<std::uint32_t>(value); };
  const bool normalized = spec.normalized_values;
  switch (spec.type) {
    case TexelType::kU8: {
      const auto value = read_guest<std::uint8_t>(at);
      return normalized ? real(static_cast<float>(value) / 255.0F) : value;
    }
    case TexelType::kS8: {
      const auto value = static_cast<std::int8_t>(read_guest<std::uint8_t>(at));
      if (normalized) return real(std::max(static_cast<float>(value) / 127.0F, -1.0F));
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    }
    case TexelType::kU16: {
      const auto value = read_guest<std::uint16_t>(at);
      return normalized ? real(static_cast<float>(value) / 65535.0F) : value;
    }
    case TexelType::kS16: {
      const auto value = static_cast<std::int16_t>(read_guest<std::uint16_t>(at));
      if (normalized) return real(std::max(static_cast<float>(value) / 32767.0F, -1.0F));
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    }
    case TexelType::kF16:
      return real(half_to_float(read_guest<std::uint16_t>(at)));
    default:
      return read_guest<std::uint32_t>(at);
  }
}

Texel read_texel(const Texture& texture, std::array<std::int64_t, 2> index, bool linear_memory) {
  const TextureSpec& spec = texture.spec;
  Texel texel;
  const auto channels = static_cast<std::size_t>(spec.channels);
  std::fill(texel.unwritten.begin() + spec.channels, texel.unwritten.end(), true);
  const std::array<TextureAddress, 2> modes =
      linear_memory ? std::array{TextureAddress::kBorder, TextureAddress::kBorder} : spec.address;
  const auto x = place_index(index[0], static_cast<std::int64_t>(spec.width), modes[0]);
  const auto y = place_index(index[1], height_of(spec), modes[1]);
  if (!x || !y) return texel;
  const std::size_t bytes = channel_bytes(spec.type);
  const std::size_t at =
      (static_cast<std::size_t>(*y) * spec.width + static_cast<std::size_t>(*x)) * channels * bytes;
  for (std::size_t c = 0; c < channels; ++c) {
    texel.bits[c] = channel_value(spec, texture.texels() + at + c * bytes);
    for (std::size_t b = 0; b < bytes; ++b)
      texel.unwritten[c] = texel.unwritten[c] || !is_written(texture.marks() + at + c * bytes + b);
  }
  return texel;
}

/// A coordinate in units of texels, which is clamped so that its floor fits a 64-bit integer.
double in_texels(float coordinate, std::size_t size, bool normalized) {
  constexpr double kFar = 1e15;
  if (std::isnan(coordinate)) return 0;
  const double texels =
      static_cast<double>(coordinate) * (normalized ? static_cast<double>(size) : 1.0);
  return std::clamp(texels, -kFar, kFar);
}

/// The two texels next to a coordinate (`first` and the following one), and the weight of the
/// second texel in linear filtering.
struct Between {
  std::int64_t first;
  double weight;
};

Between between(double coordinate) {
  const double shifted = coordinate - 0.5;
  const double first = std::floor(shifted);
  return {static_cast<std::int64_t>(first),
          std::floor((shifted - first) * kWeightSteps + 0.5) / kWeightSteps};
}

Texel filter(const Texture& texture, double x, double y) {
  const bool two = texture.spec.height != 0;
  const Between columns = between(x);
  const Between rows = two ? between(y) : Between{0, 0};
  std::array<double, 4> sum{};
  Texel result;
  std::fill(result.unwritten.begin() + texture.spec.channels, result.unwritten.end(), true);
  for (std::int64_t j = 0; j < 2; ++j) {
    for (std::int64_t i = 0; i < 2; ++i) {
      const double weight =
          (i == 0 ? 1 - columns.weight : columns.weight) * (j == 0 ? 1 - rows.weight : rows.weight);
      if (weight == 0) continue;
      const Texel texel = read_texel(texture, {columns.first + i, rows.first + j}, false);
      for (std::size_t c = 0; c < 4; ++c) {
        sum[c] += weight * static_cast<double>(std::bit_cast<float>(texel.bits[c]));
        result.unwritten[c] = result.unwritten[c] || texel.unwritten[c];
      }
    }
  }
  for (std::size_t c = 0; c < 4; ++c)
    result.bits[c] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[c]));
  return result;
}

}  // namespace

Texel fetch_texel(const Texture& texture, std::array<std::int64_t, 2> at) {
  return read_texel(texture, at, texture.spec.storage == TextureStorage::kLinear);
}

Texel sample_texture(const Texture& texture, std::array<float, 2> coordinates) {
  const TextureSpec& spec = texture.spec;
  const double x = in_texels(coordinates[0], spec.width, spec.normalized_coordinates);
  const double y =
      spec.height == 0 ? 0 : in_texels(coordinates[1], spec.height, spec.normalized_coordinates);
  if (spec.linear_filter) return filter(texture, x, y);
  return read_texel(
      texture, {static_cast<std::int64_t>(std::floor(x)), static_cast<std::int64_t>(std::floor(y))},
      false);
}

}  // namespace evo::ptx
