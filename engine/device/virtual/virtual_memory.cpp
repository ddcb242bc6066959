#include "engine/device/virtual/virtual_memory.hpp"

#include <algorithm>
#include <cstring>

#include "engine/core/error.hpp"

namespace evo::ptx {

BufferId VirtualMemory::allocate(const BufferSpec& spec) {
  require_room("buffer '" + spec.name + "'", spec.bytes);
  const BufferId id = next_id_++;
  GlobalBuffer& buffer = global.allocate(spec.name, spec.bytes, spec.writable);
  buffer.is_kept = spec.is_kept;
  buffers_[id] = &buffer;
  return id;
}

void VirtualMemory::release(BufferId buffer) {
  textures.release_views(at(buffer));
  global.release(at(buffer));
  buffers_.erase(buffer);
}

BufferSpec VirtualMemory::spec(BufferId buffer) const {
  const GlobalBuffer& source = at(buffer);
  return {source.name, source.bytes, source.writable, source.is_kept};
}

std::optional<MemoryUse> VirtualMemory::use() const {
  MemoryUse use = global.use();
  use.used_bytes += textures.array_bytes();
  return use;
}

void VirtualMemory::upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) {
  GlobalBuffer& target = at(buffer);
  if (offset > target.bytes || data.size() > target.bytes - offset) {
    throw InputError("upload of " + std::to_string(data.size()) + " bytes to '" + target.name +
                     "' of " + std::to_string(target.bytes) + " bytes");
  }
  if (!data.empty()) std::memcpy(target.data.get() + offset, data.data(), data.size());
  target.mark_written(data.size(), offset);
}

void VirtualMemory::download(BufferId buffer, std::span<std::byte> data, std::size_t offset) {
  const GlobalBuffer& source = at(buffer);
  if (offset > source.bytes || data.size() > source.bytes - offset) {
    throw InputError("download of " + std::to_string(data.size()) + " bytes from '" + source.name +
                     "' of " + std::to_string(source.bytes) + " bytes");
  }
  if (!data.empty()) std::memcpy(data.data(), source.data.get() + offset, data.size());
}

void VirtualMemory::fill(BufferId buffer, std::byte value) {
  GlobalBuffer& target = at(buffer);
  std::memset(target.data.get(), std::to_integer<int>(value), target.bytes);
  target.mark_written(target.bytes);
}

void VirtualMemory::poison(BufferId buffer, std::span<const std::byte> pattern) {
  GlobalBuffer& target = at(buffer);
  std::uint64_t done = std::min<std::uint64_t>(pattern.size(), target.bytes);
  std::memcpy(target.data.get(), pattern.data(), done);
  // The filled part of the buffer is copied to the bytes that follow it, which doubles the filled
  // part each time.
  for (std::uint64_t more = 0; done < target.bytes; done += more) {
    more = std::min(done, target.bytes - done);
    std::memcpy(target.data.get() + done, target.data.get(), more);
  }
  target.mark_unwritten();
}

std::optional<std::string> VirtualMemory::guard_violation(BufferId buffer) {
  (void)at(buffer);
  return std::nullopt;
}

TextureId VirtualMemory::make_texture(const TextureSpec& spec, BufferId source) {
  check_texture(spec, at(source).bytes);
  if (spec.storage == TextureStorage::kArray)
    require_room("texture '" + spec.name + "'", texture_bytes(spec));
  const TextureId id{next_id_++};
  handles_[id.id] = textures.add(spec, at(source));
  return id;
}

void VirtualMemory::release_texture(TextureId texture) {
  textures.release(handle_of(texture));
  handles_.erase(texture.id);
}

GlobalBuffer& VirtualMemory::at(BufferId id) const {
  const auto found = buffers_.find(id);
  if (found == buffers_.end())
    throw InputError("no buffer " + std::to_string(id) + " on " + device_);
  return *found->second;
}

void VirtualMemory::require_room(const std::string& what, std::uint64_t bytes) const {
  global.require_room(what, bytes, textures.array_bytes());
}

std::uint64_t VirtualMemory::handle_of(TextureId texture) const {
  const auto found = handles_.find(texture.id);
  if (found == handles_.end())
    throw InputError("no texture " + std::to_string(texture.id) + " on " + device_);
  return found->second;
}

}  // namespace evo::ptx
