#include "engine/core/texture.hpp"

#include <algorithm>

#include "engine/core/error.hpp"

namespace evo {
namespace {

// Limits from the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability",
// 8.0 to 9.0.
constexpr std::size_t kMostLinear = std::size_t{1} << 28;
constexpr std::size_t kMostWidth = 131072;
constexpr std::size_t kMostHeight = 65000;
constexpr std::size_t kPitchAlignment = 32;  // CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT

[[noreturn]] void refuse(const TextureSpec& spec, const std::string& why) {
  throw InputError("texture '" + spec.name + "': " + why);
}

void check_range(const TextureSpec& spec, const char* what, std::size_t value, std::size_t most) {
  if (value >= 1 && value <= most) return;
  refuse(spec, std::string(what) + " " + std::to_string(value) + ": allowed: 1 to " +
                   std::to_string(most));
}

void check_size(const TextureSpec& spec, std::size_t buffer_bytes) {
  const bool linear = spec.storage == TextureStorage::kLinear;
  check_range(spec, "width", spec.width, linear ? kMostLinear : kMostWidth);
  if (linear && spec.height != 0) refuse(spec, "linear memory has one dimension: its height is 0");
  if (spec.storage == TextureStorage::kPitched || spec.height != 0)
    check_range(spec, "height", spec.height, kMostHeight);
  const std::size_t bytes = texture_bytes(spec);
  if (bytes > buffer_bytes) {
    refuse(spec, "the texels take " + std::to_string(bytes) + " bytes, but the buffer has " +
                     std::to_string(buffer_bytes));
  }
  const std::size_t row =
      spec.width * channel_bytes(spec.type) * static_cast<std::size_t>(spec.channels);
  if (spec.storage == TextureStorage::kPitched && row % kPitchAlignment != 0) {
    refuse(spec, "a row of " + std::to_string(row) + " bytes: allowed: multiples of " +
                     std::to_string(kPitchAlignment));
  }
}

}  // namespace

const char* to_string(TextureStorage storage) {
  switch (storage) {
    case TextureStorage::kLinear:
      return "linear";
    case TextureStorage::kPitched:
      return "pitched";
    case TextureStorage::kArray:
      return "array";
  }
  return "unknown";
}

const char* to_string(TextureAddress mode) {
  switch (mode) {
    case TextureAddress::kWrap:
      return "wrap";
    case TextureAddress::kClamp:
      return "clamp";
    case TextureAddress::kMirror:
      return "mirror";
    case TextureAddress::kBorder:
      return "border";
  }
  return "unknown";
}

std::size_t channel_bytes(TexelType type) {
  switch (type) {
    case TexelType::kU8:
    case TexelType::kS8:
      return 1;
    case TexelType::kU16:
    case TexelType::kS16:
    case TexelType::kF16:
      return 2;
    default:
      return 4;
  }
}

std::size_t texture_bytes(const TextureSpec& spec) {
  return spec.width * std::max<std::size_t>(spec.height, 1) * channel_bytes(spec.type) *
         static_cast<std::size_t>(spec.channels);
}

void check_texture(const TextureSpec& spec, std::size_t buffer_bytes) {
  if (spec.channels != 1 && spec.channels != 2 && spec.channels != 4)
    refuse(spec, std::to_string(spec.channels) + " channels: allowed: 1, 2 and 4");
  check_size(spec, buffer_bytes);
  const bool is_float = spec.type == TexelType::kF16 || spec.type == TexelType::kF32;
  if (spec.normalized_values && (is_float || channel_bytes(spec.type) == 4))
    refuse(spec, "normalized values are for integers of 8 and 16 bits");
  if (spec.linear_filter && !is_float && !spec.normalized_values)
    refuse(spec, "linear filtering is for floating-point texels and normalized values");
  if (spec.storage == TextureStorage::kLinear) {
    if (spec.linear_filter || spec.normalized_coordinates)
      refuse(spec, "linear memory has no filter and no normalized coordinates");
    return;
  }
  const auto needs_normalized = [](TextureAddress mode) {
    return mode == TextureAddress::kWrap || mode == TextureAddress::kMirror;
  };
  if (!spec.normalized_coordinates && std::ranges::any_of(spec.address, needs_normalized))
    refuse(spec, "wrap and mirror need normalized coordinates");
}

}  // namespace evo
