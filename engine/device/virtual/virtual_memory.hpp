#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/device_memory.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/device/virtual/memory/texture_table.hpp"

namespace evo::ptx {

/// Buffers and textures of a virtual GPU, by the ids of DeviceMemory and DeviceTextures.
class VirtualMemory final : public DeviceMemory, public DeviceTextures {
 public:
  /// `device`: the device's name for messages.
  explicit VirtualMemory(std::string device) : device_(std::move(device)) {}

  BufferId allocate(const BufferSpec& spec) override;
  void release(BufferId buffer) override;
  [[nodiscard]] BufferSpec spec(BufferId buffer) const override;
  void upload(BufferId buffer, std::span<const std::byte> data) override;
  void download(BufferId buffer, std::span<std::byte> data) override;
  void copy(BufferId to, BufferId from) override;
  void fill(BufferId buffer, std::byte value) override;
  void poison(BufferId buffer, std::span<const std::byte> pattern) override;
  /// Returns nullopt, because accesses outside of a buffer are reported when they happen.
  std::optional<std::string> guard_violation(BufferId buffer) override;
  TextureId make_texture(const TextureSpec& spec, BufferId source) override;
  void release_texture(TextureId texture) override;

  /// at() and handle_of() throw InputError for an unknown id.
  [[nodiscard]] GlobalBuffer& at(BufferId id) const;
  [[nodiscard]] std::uint64_t handle_of(TextureId texture) const;

  // Used by running kernels.
  GlobalMemory global;
  TextureTable textures;

 private:
  /// Throws DeviceMemoryError if there is no room for `bytes` more bytes.
  void require_room(const std::string& what, std::uint64_t bytes) const;

  std::string device_;
  std::map<BufferId, GlobalBuffer*> buffers_;
  std::map<std::uint32_t, std::uint64_t> handles_;  ///< bytes of textures
  std::uint32_t next_id_ = 1;
};

}  // namespace evo::ptx
