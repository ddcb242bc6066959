#include "engine/device/virtual/checks/cluster_shadow.hpp"

#include <bit>

namespace evo::ptx {

ClusterShadow::ClusterShadow(std::uint32_t shared_bytes, int granule, std::uint32_t ctas,
                             std::uint32_t warps)
    : shift_(std::countr_zero(static_cast<unsigned>(granule))),
      warps_(warps),
      granules_((shared_bytes >> shift_) + 4),
      reads_(std::size_t{ctas} * warps),
      latest_(std::size_t{ctas} * warps) {}

void ClusterShadow::add(const RemoteAccess& access, std::uint32_t bytes) {
  is_empty_ = false;
  const std::size_t warp = std::size_t{access.rank} * warps_ + access.warp;
  latest_[warp] = access;
  auto& row = access.is_write ? writes_ : reads_[warp];
  row.resize(granules_);
  const std::size_t first = first_of(access.address);
  for (std::size_t k = 0; k < count_of(bytes); ++k) {
    RemoteAccess& word = row[first + k];
    // A strong access must not hide a weak access by the same warp at the same time.
    const bool hides = word.time == access.time && word.rank == access.rank &&
                       word.warp == access.warp && !word.is_strong;
    word = access;
    word.address = static_cast<std::uint32_t>((first + k) << shift_);
    if (hides) word.is_strong = false;
  }
}

std::vector<RemoteAccess> ClusterShadow::accesses(std::uint32_t address, std::uint32_t bytes,
                                                  bool with_reads) const {
  std::vector<RemoteAccess> found;
  const auto take = [&](const std::vector<RemoteAccess>& row) {
    const std::size_t first = first_of(address);
    for (std::size_t k = 0; k < count_of(bytes) && !row.empty(); ++k) {
      if (row[first + k].time != 0) found.push_back(row[first + k]);
    }
  };
  take(writes_);
  if (!with_reads) return found;
  for (const auto& row : reads_) take(row);
  return found;
}

std::vector<RemoteAccess> ClusterShadow::latest() const {
  std::vector<RemoteAccess> found;
  for (const RemoteAccess& access : latest_) {
    if (access.time != 0) found.push_back(access);
  }
  return found;
}

}  // namespace evo::ptx
