#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "engine/core/texture.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// A texture of the virtual GPU.
struct Texture {
  TextureSpec spec;
  const GlobalBuffer* source = nullptr;         ///< buffer of a view; null for an array
  std::unique_ptr<std::byte[]> data = nullptr;  ///< content of an array
  std::unique_ptr<std::uint8_t[]> written = nullptr;

  [[nodiscard]] const std::byte* texels() const {
    return source != nullptr ? source->data.get() : data.get();
  }
  /// The marks of a texture's bytes: 1 for a written byte.
  [[nodiscard]] const std::uint8_t* marks() const {
    return source != nullptr ? source->written.get() : written.get();
  }
};

/// All textures of a virtual GPU, by the handles that kernels receive. Handles are never reused.
class TextureTable {
 public:
  /// Adds a texture and returns its handle. `spec` must pass check_texture() for the buffer.
  std::uint64_t add(const TextureSpec& spec, const GlobalBuffer& source);
  void release(std::uint64_t handle) { textures_.erase(handle); }
  /// Releases the textures that are views of a buffer.
  void release_views(const GlobalBuffer& source);
  /// Bytes of all arrays.
  [[nodiscard]] std::uint64_t array_bytes() const;
  /// The texture with this handle, or null.
  [[nodiscard]] const Texture* find(std::uint64_t handle) const;

 private:
  std::map<std::uint64_t, Texture> textures_;
  // Handles differ from small numbers, addresses and the content of uninitialised registers.
  std::uint64_t next_ = 0x7e78'0000'0000'0001ULL;
};

}  // namespace evo::ptx
