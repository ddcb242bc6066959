#include "engine/device/virtual/memory/global_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/core/error.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"

namespace evo::ptx {

void GlobalBuffer::mark_written(std::uint64_t count, std::uint64_t first) {
  std::memset(written.get() + first, 1, count);
  if (count == bytes) all_written.store(true);
}

void GlobalBuffer::mark_unwritten() {
  std::memset(written.get(), 0, bytes);
  all_written.store(bytes == 0);
}

void GlobalBuffer::mark_uninitialised(std::uint64_t first, std::uint32_t mask) {
  auto* marks = reinterpret_cast<std::byte*>(written.get() + first);
  for (; mask != 0; mask &= mask - 1) write_guest<std::uint8_t>(marks + std::countr_zero(mask), 0);
  all_written.store(false);
}

GlobalBuffer& GlobalMemory::allocate(std::string name, std::uint64_t bytes, bool writable,
                                     std::uint64_t align) {
  auto buffer = std::make_unique<GlobalBuffer>();
  buffer->name = std::move(name);
  buffer->base = (next_ + align - 1) / align * align;
  buffer->bytes = bytes;
  buffer->writable = writable;
  buffer->data = std::make_unique<std::byte[]>(bytes + 1);
  buffer->written = std::make_unique<std::uint8_t[]>(bytes + 1);
  next_ = buffer->base + bytes + kBufferGap;
  buffers_.push_back(std::move(buffer));
  return *buffers_.back();
}

MemoryUse GlobalMemory::use() const {
  // A byte of device memory takes two bytes of host memory: one for the value, and one that says
  // whether it was written.
  MemoryUse use{.total_bytes = 4ULL << 30};
  for (const auto& buffer : buffers_) use.used_bytes += buffer->bytes;
  return use;
}

void GlobalMemory::require_room(const std::string& what, std::uint64_t bytes,
                                std::uint64_t others) const {
  const auto [total, used] = use();
  if (bytes <= total && used + others <= total - bytes) return;
  throw DeviceMemoryError("allocating " + what + " (" + std::to_string(bytes) +
                          " bytes) failed: virtual devices have " + std::to_string(total >> 30) +
                          " GiB of memory");
}

void GlobalMemory::release(const GlobalBuffer& buffer) {
  std::erase_if(buffers_, [&](const auto& known) { return known.get() == &buffer; });
}

GlobalBuffer* GlobalMemory::find(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(buffers_, address, {},
                                        [](const auto& buffer) { return buffer->base; });
  if (after == buffers_.begin()) return nullptr;
  GlobalBuffer* buffer = (--after)->get();
  return buffer->contains(address, 1) ? buffer : nullptr;
}

std::string GlobalMemory::describe(std::uint64_t address) const {
  const GlobalBuffer* nearest = nullptr;
  std::uint64_t distance = kBufferGap / 2;
  bool before = false;
  for (const auto& buffer : buffers_) {
    if (buffer->contains(address, 1)) {
      return "byte " + std::to_string(address - buffer->base) + " of '" + buffer->name + "' (" +
             std::to_string(buffer->bytes) + " bytes)";
    }
    const bool below = address < buffer->base;
    const std::uint64_t gap =
        below ? buffer->base - address : address - (buffer->base + buffer->bytes);
    if (gap < distance) {
      distance = gap;
      nearest = buffer.get();
      before = below;
    }
  }
  if (nearest == nullptr) return "outside of all buffers";
  return std::to_string(distance) + (before ? " bytes before '" : " bytes past the end of '") +
         nearest->name + "' (" + std::to_string(nearest->bytes) + " bytes)";
}

}  // namespace evo::ptx
