#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace evo::ptx {

inline constexpr int kGroupWarps = 4;

/// One wgmma as executed by a warp; all warps of the group must execute the same one.
struct ProductIssue {
  std::uint32_t pc = 0;
  std::uint64_t a = 0;  ///< descriptor; 0 for registers
  std::uint64_t b = 0;
  bool operator==(const ProductIssue&) const = default;
};

/// The common state of the four warps of a warpgroup: their sequence of wgmma.
class Warpgroup {
 public:
  /// Warp `warp` (0 … 3) executes its next wgmma. Returns the wgmma that another warp executed at
  /// this position if it differs.
  std::optional<ProductIssue> issue(int warp, const ProductIssue& product);
  /// The number executed by a warp.
  [[nodiscard]] std::uint64_t issued(int warp) const {
    return issued_[static_cast<std::size_t>(warp)];
  }
  /// The number executed by all four.
  [[nodiscard]] std::uint64_t issued_by_all() const;

 private:
  std::deque<ProductIssue> open_;  ///< not yet executed by all
  std::uint64_t first_ = 0;        ///< index of the first of them
  std::array<std::uint64_t, kGroupWarps> issued_{};
};

/// Registers that warps of a CTA released (setmaxnreg), in registers per thread times warps.
class RegisterPool {
 public:
  void reset() { free_ = 0; }
  void give(std::uint32_t registers) { free_ += registers; }
  /// False if there are too few.
  bool take(std::uint32_t registers);
  [[nodiscard]] std::uint32_t free() const { return free_; }

 private:
  std::uint32_t free_ = 0;
};

}  // namespace evo::ptx
