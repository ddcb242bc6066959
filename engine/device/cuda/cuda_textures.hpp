#pragma once

#include <cstdint>
#include <map>

#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// The buffer over which a texture is made.
struct TextureSource {
  BufferId buffer = 0;
  std::size_t bytes = 0;
  CUdeviceptr data = 0;
};

/// The texture objects of a device, and the arrays that they own.
class CudaTextures {
 public:
  /// `driver` must outlive this object; its context must be current.
  explicit CudaTextures(const CudaDriver& driver) : driver_(driver) {}

  /// Creates a texture object. If the texture needs a CUDA array, the array is filled on `stream`.
  /// Throws InputError for a texture that CUDA does not support, and CudaError if a call of the
  /// driver fails.
  void add(TextureId id, const TextureSpec& spec, const TextureSource& source, CUstream stream);
  void release(TextureId id);
  /// Releases the texture objects that are views of a buffer, before the buffer is freed.
  void release_views(BufferId buffer);
  /// The texture object that kernels receive as an argument. Throws InputError for an unknown
  /// texture.
  [[nodiscard]] CUtexObject handle(TextureId id) const;

 private:
  struct Texture {
    CUtexObject object = 0;
    CUarray array = nullptr;
    BufferId viewed = 0;  ///< the buffer of which the texture is a view; 0: the texture is no view
  };
  void destroy(const Texture& texture);
  CUarray filled_array(const TextureSpec& spec, const TextureSource& source, CUstream stream);

  const CudaDriver& driver_;
  std::map<std::uint32_t, Texture> textures_;
};

}  // namespace evo
