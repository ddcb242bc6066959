#include "engine/device/virtual/checks/store_owners.hpp"

#include <algorithm>
#include <bit>

namespace evo::ptx {

StoreOwners::StoreOwners(std::span<const GlobalBuffer* const> buffers, int granule)
    : shift_(std::countr_zero(static_cast<unsigned>(granule))) {
  for (const GlobalBuffer* buffer : buffers) {
    const std::size_t granules = (buffer->bytes + (std::uint64_t{1} << shift_) - 1) >> shift_;
    parts_.push_back({buffer, granules, std::make_unique<std::atomic<std::uint32_t>[]>(granules)});
  }
}

std::uint64_t StoreOwners::bytes_for(std::span<const GlobalBuffer* const> buffers, int granule) {
  std::uint64_t bytes = 0;
  for (const GlobalBuffer* buffer : buffers)
    bytes += buffer->bytes / static_cast<std::uint64_t>(granule) * sizeof(std::uint32_t);
  return bytes;
}

void StoreOwners::note(std::uint64_t address, std::uint32_t bytes, std::uint64_t cta) {
  const auto part = std::ranges::find_if(
      parts_, [&](const Part& one) { return one.buffer->contains(address, bytes); });
  if (part == parts_.end()) {
    elsewhere_.store(true, std::memory_order_relaxed);
    return;
  }
  const auto mine = static_cast<std::uint32_t>(cta + 1);
  const std::uint64_t offset = address - part->buffer->base;
  for (std::uint64_t at = offset >> shift_; at <= (offset + bytes - 1) >> shift_; ++at) {
    std::uint32_t before = 0;
    if (!part->owner[at].compare_exchange_strong(before, mine, std::memory_order_relaxed) &&
        before != mine)
      overlaps_.store(true, std::memory_order_relaxed);
  }
}

std::vector<std::uint32_t> StoreOwners::owners(std::size_t position) const {
  const Part& part = parts_.at(position);
  return {part.owner.get(), part.owner.get() + part.granules};
}

}  // namespace evo::ptx
