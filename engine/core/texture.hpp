#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace evo {

/// A texture of a Device.
struct TextureId {
  std::uint32_t id = 0;
  friend bool operator==(TextureId, TextureId) = default;
};

/// What one channel of a texel holds.
enum class TexelType : std::uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kF16, kF32 };

/// Where the texels of a texture lie.
enum class TextureStorage : std::uint8_t {
  kLinear,   ///< a view of the buffer, one dimension, for tex1Dfetch only
  kPitched,  ///< a view of the buffer, two dimensions, rows next to each other
  kArray,    ///< an array of its own, filled from the buffer when the texture is made
};

/// What is read outside of a texture.
enum class TextureAddress : std::uint8_t {
  kWrap,    ///< the texture repeats itself; needs normalized coordinates
  kClamp,   ///< the texel at the edge
  kMirror,  ///< it repeats itself, every second time mirrored; needs normalized coordinates
  kBorder,  ///< zeros
};

/// The word that problem files have for it.
[[nodiscard]] const char* to_string(TextureStorage storage);
[[nodiscard]] const char* to_string(TextureAddress mode);

/// A texture object, as cudaResourceDesc and cudaTextureDesc describe it.
struct TextureSpec {
  std::string name;  ///< for messages
  TexelType type = TexelType::kF32;
  int channels = 1;        ///< 1, 2 or 4
  std::size_t width = 0;   ///< in texels
  std::size_t height = 0;  ///< in texels; 0: one dimension
  TextureStorage storage = TextureStorage::kArray;
  bool linear_filter = false;  ///< else the nearest texel
  std::array<TextureAddress, 2> address = {TextureAddress::kClamp, TextureAddress::kClamp};
  bool normalized_coordinates = false;  ///< 0 to 1 over the texture, else 0 to width or height
  bool normalized_values = false;  ///< integers of 8 and 16 bits are read as 0 to 1 or −1 to 1
};

/// Bytes of one channel.
[[nodiscard]] std::size_t channel_bytes(TexelType type);
/// Bytes of all texels.
[[nodiscard]] std::size_t texture_bytes(const TextureSpec& spec);

/// Throws InputError, naming the texture, what is wrong and what is allowed, unless CUDA takes such
/// a texture over a buffer of `buffer_bytes` bytes.
void check_texture(const TextureSpec& spec, std::size_t buffer_bytes);

}  // namespace evo
