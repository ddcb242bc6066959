#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/core/texture.hpp"

namespace evo {

using BufferId = std::uint32_t;

/// A buffer in device memory; `bytes` excludes its guard zones.
struct BufferSpec {
  std::string name;  ///< name for messages
  std::size_t bytes = 0;
  bool writable = false;  ///< false for inputs: the virtual GPU reports writes
  bool is_kept = false;   ///< true for workspaces: all timed launches share them
};

/// The bytes of a device's memory: of all memory, and of the part that is in use.
struct MemoryUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t used_bytes = 0;
};

/// The buffers of a device.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Allocates uninitialised device memory. release() frees the memory; if release() is not called,
  /// the memory is freed with the device. Throws DeviceMemoryError if there is too little memory.
  virtual BufferId allocate(const BufferSpec& spec) = 0;
  virtual void release(BufferId buffer) = 0;
  /// The specification with which `buffer` was allocated.
  [[nodiscard]] virtual BufferSpec spec(BufferId buffer) const = 0;
  /// Nullopt if only allocate() can tell whether there is enough memory.
  [[nodiscard]] virtual std::optional<MemoryUse> use() const { return std::nullopt; }
  /// Copies `data` from the host to a buffer, from byte `offset` of the buffer on.
  virtual void upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset = 0) = 0;
  /// Copies the bytes of a buffer, from byte `offset` on, to `data` on the host.
  virtual void download(BufferId buffer, std::span<std::byte> data, std::size_t offset = 0) = 0;
  /// Sets every byte of a buffer to `value`.
  virtual void fill(BufferId buffer, std::byte value) = 0;
  /// Fills a buffer with `pattern` (1, 2, 4 or 8 bytes, repeated). Devices that track writes regard
  /// the buffer as unwritten afterwards.
  virtual void poison(BufferId buffer, std::span<const std::byte> pattern) = 0;
  /// Describes the overwritten part of a buffer's guard zones, and restores the zones; nullopt if
  /// the zones are intact.
  virtual std::optional<std::string> guard_violation(BufferId buffer) = 0;
  /// Bytes of the guard zone on each side of a buffer, which holds guard_pattern(); 0 if the device
  /// detects every access outside of a buffer.
  [[nodiscard]] virtual std::size_t guard_bytes() const { return 0; }
};

/// The textures of a device.
class DeviceTextures {
 public:
  virtual ~DeviceTextures() = default;

  /// Makes a texture object over the first bytes of a buffer or over a copy of these bytes, as
  /// `spec` says (TextureStorage). release_texture() frees the object; an object over the buffer
  /// itself is also freed with the buffer. Throws InputError for a texture that CUDA does not
  /// support.
  virtual TextureId make_texture(const TextureSpec& spec, BufferId source) = 0;
  virtual void release_texture(TextureId texture) = 0;
};

}  // namespace evo
