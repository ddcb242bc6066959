#pragma once

#include <cstdint>
#include <vector>

namespace evo::ptx {

/// An access by a thread of a CTA to the shared memory of another CTA of its cluster.
struct RemoteAccess {
  std::uint32_t time = 0;  ///< in the vector clock of the warp; 0: there was no access
  std::uint32_t pc = 0;
  std::uint32_t address = 0;  ///< offset in the shared memory of the owner
  std::uint8_t rank = 0;      ///< of the CTA that made the access
  std::uint8_t warp = 0;
  std::uint8_t lane = 0;
  bool is_strong = false;
  bool is_write = false;
};

/// Records the accesses that other CTAs of the cluster made to the shared memory of one CTA: for
/// every granule, the last write by any warp, and the last read of each warp.
class ClusterShadow {
 public:
  /// `granule`: bytes per shadow word. `ctas`: CTAs of the cluster. `warps`: warps of each CTA.
  ClusterShadow(std::uint32_t shared_bytes, int granule, std::uint32_t ctas, std::uint32_t warps);

  /// True if no other CTA has accessed the memory.
  [[nodiscard]] bool is_empty() const { return is_empty_; }
  void add(const RemoteAccess& access, std::uint32_t bytes);
  /// The recorded writes to `bytes` bytes at `address` and, if `with_reads`, the recorded reads.
  [[nodiscard]] std::vector<RemoteAccess> accesses(std::uint32_t address, std::uint32_t bytes,
                                                   bool with_reads) const;
  /// The latest access of each warp that has accessed the memory.
  [[nodiscard]] std::vector<RemoteAccess> latest() const;

 private:
  [[nodiscard]] std::size_t first_of(std::uint32_t address) const { return address >> shift_; }
  [[nodiscard]] std::size_t count_of(std::uint32_t bytes) const {
    return bytes >> shift_ == 0 ? 1 : bytes >> shift_;
  }

  int shift_ = 2;
  std::uint32_t warps_ = 0;
  std::size_t granules_ = 0;
  bool is_empty_ = true;
  std::vector<RemoteAccess> writes_;
  /// by rank · warps + warp: the last read of each granule; empty if the warp has read nothing
  std::vector<std::vector<RemoteAccess>> reads_;
  std::vector<RemoteAccess> latest_;  ///< by rank · warps + warp: the latest access
};

}  // namespace evo::ptx
