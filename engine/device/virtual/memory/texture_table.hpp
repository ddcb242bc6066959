#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "engine/core/texture.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// A texture object of the virtual GPU.
struct Texture {
  TextureSpec spec;
  const GlobalBuffer* source = nullptr;         ///< buffer with the texels; null for a CUDA array
  std::unique_ptr<std::byte[]> data = nullptr;  ///< content of a CUDA array
  std::unique_ptr<std::uint8_t[]> written = nullptr;

  [[nodiscard]] const std::byte* texels() const {
    return source != nullptr ? source->data.get() : data.get();
  }
  /// For each byte of the texture, a flag: 1 if the byte was written.
  [[nodiscard]] const std::uint8_t* marks() const {
    return source != nullptr ? source->written.get() : written.get();
  }
};

/// All texture objects of a virtual GPU, by the handles that kernels receive. Handles are never
/// reused.
class TextureTable {
 public:
  /// Adds a texture and returns its handle. check_texture() must have accepted `spec` for the
  /// buffer.
  std::uint64_t add(const TextureSpec& spec, const GlobalBuffer& source);
  void release(std::uint64_t handle) { textures_.erase(handle); }
  /// Releases the textures that read directly from a buffer, without a copy.
  void release_views(const GlobalBuffer& source);
  /// Bytes of all CUDA arrays.
  [[nodiscard]] std::uint64_t array_bytes() const;
  /// The texture with this handle, or null.
  [[nodiscard]] const Texture* find(std::uint64_t handle) const;

 private:
  std::map<std::uint64_t, Texture> textures_;
  // Handles begin at a high number, so that they differ from small numbers, addresses and the
  // content of uninitialised registers.
  std::uint64_t next_ = 0x7e78'0000'0000'0001ULL;
};

}  // namespace evo::ptx
