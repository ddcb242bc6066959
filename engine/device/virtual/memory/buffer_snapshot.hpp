#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// Saves the content of the buffers that kernels may write, and restores it in the destructor.
class BufferSnapshot {
 public:
  explicit BufferSnapshot(const GlobalMemory& memory) {
    for (const auto& buffer : memory.buffers()) {
      if (!buffer->writable) continue;
      Copy& copy = copies_.emplace_back();
      copy.buffer = buffer.get();
      copy.data.assign(buffer->data.get(), buffer->data.get() + buffer->bytes);
      copy.written.assign(buffer->written.get(), buffer->written.get() + buffer->bytes);
    }
  }
  ~BufferSnapshot() {
    for (const Copy& copy : copies_) {
      std::ranges::copy(copy.data, copy.buffer->data.get());
      std::ranges::copy(copy.written, copy.buffer->written.get());
    }
  }
  BufferSnapshot(const BufferSnapshot&) = delete;
  BufferSnapshot& operator=(const BufferSnapshot&) = delete;

 private:
  struct Copy {
    GlobalBuffer* buffer = nullptr;
    std::vector<std::byte> data;
    std::vector<std::uint8_t> written;
  };
  std::vector<Copy> copies_;
};

}  // namespace evo::ptx
