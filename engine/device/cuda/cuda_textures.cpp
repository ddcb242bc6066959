#include "engine/device/cuda/cuda_textures.hpp"

#include <algorithm>
#include <string>

#include "engine/core/error.hpp"

namespace evo {
namespace {

CUarray_format format_of(TexelType type) {
  switch (type) {
    case TexelType::kU8:
      return CU_AD_FORMAT_UNSIGNED_INT8;
    case TexelType::kS8:
      return CU_AD_FORMAT_SIGNED_INT8;
    case TexelType::kU16:
      return CU_AD_FORMAT_UNSIGNED_INT16;
    case TexelType::kS16:
      return CU_AD_FORMAT_SIGNED_INT16;
    case TexelType::kU32:
      return CU_AD_FORMAT_UNSIGNED_INT32;
    case TexelType::kS32:
      return CU_AD_FORMAT_SIGNED_INT32;
    case TexelType::kF16:
      return CU_AD_FORMAT_HALF;
    case TexelType::kF32:
      break;
  }
  return CU_AD_FORMAT_FLOAT;
}

CUaddress_mode mode_of(TextureAddress mode) {
  switch (mode) {
    case TextureAddress::kWrap:
      return CU_TR_ADDRESS_MODE_WRAP;
    case TextureAddress::kClamp:
      return CU_TR_ADDRESS_MODE_CLAMP;
    case TextureAddress::kMirror:
      return CU_TR_ADDRESS_MODE_MIRROR;
    case TextureAddress::kBorder:
      break;
  }
  return CU_TR_ADDRESS_MODE_BORDER;
}

CUDA_TEXTURE_DESC description_of(const TextureSpec& spec) {
  CUDA_TEXTURE_DESC description = {};
  description.addressMode[0] = mode_of(spec.address[0]);
  description.addressMode[1] = mode_of(spec.address[1]);
  description.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
  description.filterMode = spec.linear_filter ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  const bool is_float = spec.type == TexelType::kF16 || spec.type == TexelType::kF32;
  if (spec.normalized_coordinates) description.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (!is_float && !spec.normalized_values) description.flags |= CU_TRSF_READ_AS_INTEGER;
  return description;
}

std::size_t row_bytes(const TextureSpec& spec) {
  return spec.width * channel_bytes(spec.type) * static_cast<std::size_t>(spec.channels);
}

}  // namespace

CUarray CudaTextures::filled_array(const TextureSpec& spec, const TextureSource& source,
                                   CUstream stream) {
  CUDA_ARRAY_DESCRIPTOR shape = {};
  shape.Width = spec.width;
  shape.Height = spec.height;
  shape.Format = format_of(spec.type);
  shape.NumChannels = static_cast<unsigned>(spec.channels);
  CUarray array = nullptr;
  driver_.require(driver_.cuArrayCreate(&array, &shape), "cuArrayCreate");
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = source.data;
  copy.srcPitch = row_bytes(spec);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = row_bytes(spec);
  copy.Height = std::max<std::size_t>(spec.height, 1);
  const CUresult copied = driver_.cuMemcpy2DAsync(&copy, stream);
  if (copied != CUDA_SUCCESS) driver_.cuArrayDestroy(array);
  driver_.require(copied, "cuMemcpy2DAsync");
  return array;
}

void CudaTextures::add(TextureId id, const TextureSpec& spec, const TextureSource& source,
                       CUstream stream) {
  check_texture(spec, source.bytes);
  Texture texture;
  CUDA_RESOURCE_DESC resource = {};
  if (spec.storage == TextureStorage::kArray) {
    texture.array = filled_array(spec, source, stream);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = texture.array;
  } else if (spec.storage == TextureStorage::kLinear) {
    texture.viewed = source.buffer;
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = source.data;
    resource.res.linear.format = format_of(spec.type);
    resource.res.linear.numChannels = static_cast<unsigned>(spec.channels);
    resource.res.linear.sizeInBytes = texture_bytes(spec);
  } else {
    texture.viewed = source.buffer;
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = source.data;
    resource.res.pitch2D.format = format_of(spec.type);
    resource.res.pitch2D.numChannels = static_cast<unsigned>(spec.channels);
    resource.res.pitch2D.width = spec.width;
    resource.res.pitch2D.height = spec.height;
    resource.res.pitch2D.pitchInBytes = row_bytes(spec);
  }
  const CUDA_TEXTURE_DESC description = description_of(spec);
  const CUresult made =
      driver_.cuTexObjectCreate(&texture.object, &resource, &description, nullptr);
  if (made != CUDA_SUCCESS && texture.array != nullptr) driver_.cuArrayDestroy(texture.array);
  driver_.require(made, "cuTexObjectCreate");
  textures_[id.id] = texture;
}

void CudaTextures::destroy(const Texture& texture) {
  driver_.require(driver_.cuTexObjectDestroy(texture.object), "cuTexObjectDestroy");
  if (texture.array != nullptr)
    driver_.require(driver_.cuArrayDestroy(texture.array), "cuArrayDestroy");
}

void CudaTextures::release(TextureId id) {
  (void)handle(id);
  const auto found = textures_.find(id.id);
  destroy(found->second);
  textures_.erase(found);
}

void CudaTextures::release_views(BufferId buffer) {
  for (auto texture = textures_.begin(); texture != textures_.end();) {
    if (texture->second.viewed != buffer) {
      ++texture;
      continue;
    }
    destroy(texture->second);
    texture = textures_.erase(texture);
  }
}

CUtexObject CudaTextures::handle(TextureId id) const {
  const auto found = textures_.find(id.id);
  if (found == textures_.end()) throw InputError("no texture " + std::to_string(id.id));
  return found->second.object;
}

}  // namespace evo
