#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace evo {

/// Identifies a texture of a Device.
struct TextureId {
  std::uint32_t id = 0;
  friend bool operator==(TextureId, TextureId) = default;
};

/// The type of one channel of a texel.
enum class TexelType : std::uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kF16, kF32 };

/// Where the texels of a texture are stored.
enum class TextureStorage : std::uint8_t {
  kLinear,   ///< a one-dimensional view of the buffer, for tex1Dfetch only
  kPitched,  ///< a two-dimensional view of the buffer, whose rows have no padding between them
  kArray,    ///< a separate array, copied from the buffer when the texture is made
};

/// The result of a read outside of the texture.
enum class TextureAddress : std::uint8_t {
  kWrap,    ///< the texture repeats; needs normalized coordinates
  kClamp,   ///< the nearest texel at the edge
  kMirror,  ///< the texture repeats, and every second copy is mirrored; needs normalized
            ///< coordinates
  kBorder,  ///< zeros
};

/// The name of a texture's storage or address mode in problem files.
[[nodiscard]] const char* to_string(TextureStorage storage);
[[nodiscard]] const char* to_string(TextureAddress mode);

/// A texture object, as cudaResourceDesc and cudaTextureDesc describe it.
struct TextureSpec {
  std::string name;  ///< name for messages
  TexelType type = TexelType::kF32;
  int channels = 1;        ///< 1, 2 or 4
  std::size_t width = 0;   ///< in texels
  std::size_t height = 0;  ///< in texels; 0 for one dimension
  TextureStorage storage = TextureStorage::kArray;
  bool linear_filter = false;  ///< linear interpolation; otherwise the nearest texel
  std::array<TextureAddress, 2> address = {TextureAddress::kClamp, TextureAddress::kClamp};
  /// coordinates from 0 to 1; otherwise from 0 to width or height
  bool normalized_coordinates = false;
  /// 8- and 16-bit integers are read as floats from 0 to 1 or from −1 to 1
  bool normalized_values = false;
};

/// The size of one channel in bytes.
[[nodiscard]] std::size_t channel_bytes(TexelType type);
/// The size of all texels in bytes.
[[nodiscard]] std::size_t texture_bytes(const TextureSpec& spec);

/// Throws InputError, naming the texture, the fault and the allowed values, unless CUDA supports
/// the texture over a buffer of `buffer_bytes` bytes.
void check_texture(const TextureSpec& spec, std::size_t buffer_bytes);

}  // namespace evo
