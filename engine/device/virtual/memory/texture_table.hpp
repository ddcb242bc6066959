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
  const GlobalBuffer* source = nullptr;         ///< of a view; null for an array
  std::unique_ptr<std::byte[]> data = nullptr;  ///< of an array
  std::unique_ptr<std::uint8_t[]> written = nullptr;

  [[nodiscard]] const std::byte* texels() const {
    return source != nullptr ? source->data.get() : data.get();
  }
  /// For each byte, whether anyone wrote it.
  [[nodiscard]] const std::uint8_t* marks() const {
    return source != nullptr ? source->written.get() : written.get();
  }
};

/// All textures, by the handles that kernels get. Handles are never reused.
class TextureTable {
 public:
  /// The handle. `spec` must be one that check_texture() takes over the buffer.
  std::uint64_t add(const TextureSpec& spec, const GlobalBuffer& source);
  void release(std::uint64_t handle) { textures_.erase(handle); }
  /// Releases the views of a buffer.
  void release_views(const GlobalBuffer& source);
  /// Of all arrays.
  [[nodiscard]] std::uint64_t array_bytes() const;
  /// The texture, or nullptr.
  [[nodiscard]] const Texture* find(std::uint64_t handle) const;

 private:
  std::map<std::uint64_t, Texture> textures_;
  // Far from small numbers, from addresses and from what uninitialised registers hold.
  std::uint64_t next_ = 0x7e78'0000'0000'0001ULL;
};

}  // namespace evo::ptx
