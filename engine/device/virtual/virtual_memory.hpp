#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/device/device_memory.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/device/virtual/memory/texture_table.hpp"

namespace evo::ptx {

/// The buffers and textures of a virtual GPU, by the ids of DeviceMemory and DeviceTextures.
class VirtualMemory final : public DeviceMemory, public DeviceTextures {
 public:
  /// `device`: the device's id, such as "virtual:l4", which messages mention.
  explicit VirtualMemory(std::string device) : device_(std::move(device)) {}

  BufferId allocate(const BufferSpec& spec) override;
  void release(BufferId buffer) override;
  [[nodiscard]] BufferSpec spec(BufferId buffer) const override;
  [[nodiscard]] std::optional<MemoryUse> use() const override;
  void upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) override;
  void download(BufferId buffer, std::span<std::byte> data, std::size_t offset) override;
  void fill(BufferId buffer, std::byte value) override;
  void poison(BufferId buffer, std::span<const std::byte> pattern) override;
  /// Always returns nullopt, because the virtual GPU reports every access outside of a buffer when
  /// it happens.
  std::optional<std::string> guard_violation(BufferId buffer) override;
  TextureId make_texture(const TextureSpec& spec, BufferId source) override;
  void release_texture(TextureId texture) override;

  /// The functions at() and handle_of() throw InputError for an unknown id.
  [[nodiscard]] GlobalBuffer& at(BufferId id) const;
  [[nodiscard]] std::uint64_t handle_of(TextureId texture) const;

  // Used by running kernels.
  GlobalMemory global;
  TextureTable textures;

 private:
  /// Throws DeviceMemoryError if device memory cannot hold `bytes` more bytes.
  void require_room(const std::string& what, std::uint64_t bytes) const;

  std::string device_;
  std::map<BufferId, GlobalBuffer*> buffers_;
  std::map<std::uint32_t, std::uint64_t> handles_;  ///< handles of the textures by TextureId::id
  std::uint32_t next_id_ = 1;
};

}  // namespace evo::ptx
