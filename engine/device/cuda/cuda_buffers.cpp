#include "engine/device/cuda/cuda_buffers.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/device/guard.hpp"

namespace evo {

BufferId CudaBuffers::allocate(const BufferSpec& spec) {
  if (spec.bytes > std::numeric_limits<std::size_t>::max() - 2 * kGuardBytes) {
    throw DeviceMemoryError("allocating buffer '" + spec.name + "' (" + std::to_string(spec.bytes) +
                            " bytes) failed");
  }
  const Buffer buffer{spec, memory_.take(spec.bytes + 2 * kGuardBytes, spec.name)};
  const BufferId id = next_id_++;
  buffers_[id] = buffer;
  // guard_pattern() repeats every two bytes, so a memset of 2-byte words writes the pattern.
  std::uint16_t word = 0;
  std::memcpy(&word, guard_pattern().data(), sizeof word);
  for (const CUdeviceptr zone : {buffer.base, buffer.data() + spec.bytes}) {
    if (zone % sizeof word != 0) {
      queue_.copy_in(zone, guard_pattern());
      continue;
    }
    queue_.require(driver_.cuMemsetD16Async(zone, word, kGuardBytes / sizeof word, queue_.stream()),
                   "cuMemsetD16Async");
  }
  return id;
}

void CudaBuffers::release(BufferId buffer) {
  const Buffer& target = buffers_.at(buffer);
  textures_.release_views(buffer);
  memory_.give_back(target.base, target.spec.bytes + 2 * kGuardBytes);
  buffers_.erase(buffer);
}

TextureId CudaBuffers::make_texture(const TextureSpec& spec, BufferId source) {
  const Buffer& buffer = buffers_.at(source);
  const TextureId id{next_id_++};
  textures_.add(id, spec, {source, buffer.spec.bytes, buffer.data()}, queue_.stream());
  return id;
}

void CudaBuffers::upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) {
  queue_.copy_in(buffers_.at(buffer).data() + offset, data);
}

void CudaBuffers::download(BufferId buffer, std::span<std::byte> data, std::size_t offset) {
  queue_.copy_out(buffers_.at(buffer).data() + offset, data);
}

void CudaBuffers::fill(BufferId buffer, std::byte value) { poison(buffer, std::span(&value, 1)); }

void CudaBuffers::poison(BufferId buffer, std::span<const std::byte> pattern) {
  const Buffer& target = buffers_.at(buffer);
  queue_.require(queue_fill(driver_, target.data(), target.spec.bytes, pattern, queue_.stream()),
                 "filling a buffer");
}

std::optional<std::string> CudaBuffers::guard_violation(BufferId buffer) {
  const Buffer& target = buffers_.at(buffer);
  const CUdeviceptr tail = target.data() + target.spec.bytes;
  std::vector<std::byte> before(kGuardBytes);
  std::vector<std::byte> after(kGuardBytes);
  queue_.copy_out(target.base, before);
  queue_.copy_out(tail, after);
  auto violation = find_guard_violation(target.spec.name, target.spec.bytes, before, after);
  if (violation) {
    const std::vector<std::byte>& pattern = guard_pattern();
    queue_.copy_in(target.base, pattern);
    queue_.copy_in(tail, pattern);
  }
  return violation;
}

}  // namespace evo
