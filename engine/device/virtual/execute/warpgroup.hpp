#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace evo::ptx {

inline constexpr int kGroupWarps = 4;

/// A wgmma as executed by one warp. All four warps of the warpgroup must execute the wgmma with the
/// same instruction and the same descriptors.
struct ProductIssue {
  std::uint32_t pc = 0;
  std::uint64_t a = 0;  ///< descriptor of A; 0 if A is in registers
  std::uint64_t b = 0;
  bool operator==(const ProductIssue&) const = default;
};

/// The sequence of wgmma instructions that a warpgroup's four warps execute.
class Warpgroup {
 public:
  /// Records that warp `warp` (0 … 3) executes its next wgmma. If another warp executed a different
  /// wgmma at this position of the sequence, returns the wgmma of the other warp.
  std::optional<ProductIssue> issue(int warp, const ProductIssue& product);
  /// The number of wgmma instructions that a warp has executed.
  [[nodiscard]] std::uint64_t issued(int warp) const {
    return issued_[static_cast<std::size_t>(warp)];
  }
  /// The number of wgmma instructions that all four warps have executed.
  [[nodiscard]] std::uint64_t issued_by_all() const;

 private:
  std::deque<ProductIssue> open_;  ///< wgmma that some warps have not executed yet
  std::uint64_t first_ = 0;        ///< index of the first element of `open_`
  std::array<std::uint64_t, kGroupWarps> issued_{};
};

/// Registers that the warps of a CTA have released by setmaxnreg. A warp that releases r registers
/// per thread adds r to the pool.
class RegisterPool {
 public:
  void reset() { free_ = 0; }
  void give(std::uint32_t registers) { free_ += registers; }
  /// Takes registers from the pool, or returns false if the pool has too few.
  bool take(std::uint32_t registers);
  [[nodiscard]] std::uint32_t free() const { return free_; }

 private:
  std::uint32_t free_ = 0;
};

}  // namespace evo::ptx
