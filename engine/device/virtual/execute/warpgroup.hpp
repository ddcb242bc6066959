#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace evo::ptx {

inline constexpr int kGroupWarps = 4;

/// One wgmma as a warp executes it: all warps of the group must execute the same.
struct ProductIssue {
  std::uint32_t pc = 0;
  std::uint64_t a = 0;  ///< descriptor, 0 for registers
  std::uint64_t b = 0;
  bool operator==(const ProductIssue&) const = default;
};

/// What the four warps of a warpgroup have in common: the sequence of their wgmma.
class Warpgroup {
 public:
  /// Warp `warp` (0 … 3) executes its next wgmma; what another warp executed in its place when that
  /// is something else.
  std::optional<ProductIssue> issue(int warp, const ProductIssue& product);
  /// How many a warp has executed.
  [[nodiscard]] std::uint64_t issued(int warp) const {
    return issued_[static_cast<std::size_t>(warp)];
  }
  /// How many all four have.
  [[nodiscard]] std::uint64_t issued_by_all() const;

 private:
  std::deque<ProductIssue> open_;  ///< not executed by all yet
  std::uint64_t first_ = 0;        ///< number of the first of them
  std::array<std::uint64_t, kGroupWarps> issued_{};
};

/// Registers of a CTA that its warps gave back (setmaxnreg), in registers per thread times warps.
class RegisterPool {
 public:
  void reset() { free_ = 0; }
  void give(std::uint32_t registers) { free_ += registers; }
  /// False when there are too few.
  bool take(std::uint32_t registers);
  [[nodiscard]] std::uint32_t free() const { return free_; }

 private:
  std::uint32_t free_ = 0;
};

}  // namespace evo::ptx
