#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/device/cuda/cuda_memory.hpp"
#include "engine/device/cuda/cuda_queue.hpp"
#include "engine/device/cuda/cuda_textures.hpp"
#include "engine/device/cuda/driver.hpp"
#include "engine/device/device_memory.hpp"
#include "engine/device/guard.hpp"

namespace evo {

/// Buffers between guard zones, and textures over buffers. Operations on buffers run on the stream
/// of `queue`. upload(), download() and guard_violation() wait for the operation; fill() and
/// poison() only queue it.
class CudaBuffers final : public DeviceMemory, public DeviceTextures {
 public:
  /// `driver` and `queue` must outlive this object; the context must be current.
  CudaBuffers(const CudaDriver& driver, CudaQueue& queue)
      : driver_(driver), queue_(queue), memory_(driver), textures_(driver) {}

  BufferId allocate(const BufferSpec& spec) override;
  void release(BufferId buffer) override;
  [[nodiscard]] BufferSpec spec(BufferId buffer) const override { return buffers_.at(buffer).spec; }
  void upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) override;
  void download(BufferId buffer, std::span<std::byte> data, std::size_t offset) override;
  void fill(BufferId buffer, std::byte value) override;
  void poison(BufferId buffer, std::span<const std::byte> pattern) override;
  std::optional<std::string> guard_violation(BufferId buffer) override;
  [[nodiscard]] std::size_t guard_bytes() const override { return kGuardBytes; }
  TextureId make_texture(const TextureSpec& spec, BufferId source) override;
  void release_texture(TextureId texture) override { textures_.release(texture); }

  /// Address of the first byte of `buffer`.
  [[nodiscard]] CUdeviceptr data(BufferId buffer) const { return buffers_.at(buffer).data(); }
  [[nodiscard]] CUtexObject handle(TextureId texture) const { return textures_.handle(texture); }

 private:
  struct Buffer {
    BufferSpec spec;
    CUdeviceptr base = 0;

    [[nodiscard]] CUdeviceptr data() const { return base + kGuardBytes; }
  };

  const CudaDriver& driver_;
  CudaQueue& queue_;
  std::map<BufferId, Buffer> buffers_;
  CudaMemory memory_;
  CudaTextures textures_;
  std::uint32_t next_id_ = 1;
};

}  // namespace evo
