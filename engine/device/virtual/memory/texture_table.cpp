#include "engine/device/virtual/memory/texture_table.hpp"

#include <cstring>

namespace evo::ptx {

std::uint64_t TextureTable::add(const TextureSpec& spec, const GlobalBuffer& source) {
  Texture texture{.spec = spec};
  if (spec.storage == TextureStorage::kArray) {
    const std::size_t bytes = texture_bytes(spec);
    texture.data = std::make_unique<std::byte[]>(bytes);
    texture.written = std::make_unique<std::uint8_t[]>(bytes);
    std::memcpy(texture.data.get(), source.data.get(), bytes);
    std::memcpy(texture.written.get(), source.written.get(), bytes);
  } else {
    texture.source = &source;
  }
  const std::uint64_t handle = next_++;
  textures_.emplace(handle, std::move(texture));
  return handle;
}

void TextureTable::release_views(const GlobalBuffer& source) {
  std::erase_if(textures_, [&](const auto& entry) { return entry.second.source == &source; });
}

std::uint64_t TextureTable::array_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [handle, texture] : textures_)
    bytes += texture.source == nullptr ? texture_bytes(texture.spec) : 0;
  return bytes;
}

const Texture* TextureTable::find(std::uint64_t handle) const {
  const auto found = textures_.find(handle);
  return found == textures_.end() ? nullptr : &found->second;
}

}  // namespace evo::ptx
