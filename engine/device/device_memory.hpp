#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/core/texture.hpp"

namespace evo {

using BufferId = std::uint32_t;

/// A buffer in device memory with guard zones on both sides.
struct BufferSpec {
  std::string name;  ///< for messages
  std::size_t bytes = 0;
  bool writable = false;  ///< false for inputs: the virtual GPU reports a write to one
  bool is_kept = false;   ///< all launches that are timed take this one: a workspace
};

/// The buffers of a device.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Device memory, uninitialised. Freed by release() or with the device. Throws DeviceMemoryError
  /// when it does not fit.
  virtual BufferId allocate(const BufferSpec& spec) = 0;
  virtual void release(BufferId buffer) = 0;
  /// As it was allocated.
  [[nodiscard]] virtual BufferSpec spec(BufferId buffer) const = 0;
  virtual void upload(BufferId buffer, std::span<const std::byte> data) = 0;
  virtual void download(BufferId buffer, std::span<std::byte> data) = 0;
  /// The content of one buffer to another of the same size.
  virtual void copy(BufferId to, BufferId from) = 0;
  /// Every byte := value.
  virtual void fill(BufferId buffer, std::byte value) = 0;
  /// Fills the buffer with `pattern` (1, 2, 4 or 8 bytes, repeated) as data that nobody wrote: a
  /// device that tracks writes forgets them.
  virtual void poison(BufferId buffer, std::span<const std::byte> pattern) = 0;
  /// Names the overwritten part of the guard zones, or returns nothing. Repairs the zones.
  virtual std::optional<std::string> guard_violation(BufferId buffer) = 0;
  /// Bytes of the guard zone on each side of a buffer, filled with guard_pattern(); 0 where no
  /// kernel can reach past a buffer.
  [[nodiscard]] virtual std::size_t guard_bytes() const { return 0; }
};

/// The textures of a device.
class DeviceTextures {
 public:
  virtual ~DeviceTextures() = default;

  /// A texture object over the start of a buffer, or over a copy of it, see TextureStorage; it goes
  /// with release_texture(), and a view also with its buffer. Throws InputError for a texture that
  /// CUDA does not take.
  virtual TextureId make_texture(const TextureSpec& spec, BufferId source) = 0;
  virtual void release_texture(TextureId texture) = 0;
};

}  // namespace evo
