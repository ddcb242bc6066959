#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace evo::ptx {

inline constexpr int kGroupWarps = 4;

/// A wgmma as executed by one warp. All warps of the warpgroup must execute the same wgmma.
struct ProductIssue {
  std::uint32_t pc = 0;
  std::uint64_t a = 0;  ///< descriptor of A; 0 if A is in registers
  std::uint64_t b = 0;
  bool operator==(const ProductIssue&) const = default;
};

/// The sequence of wgmma instructions that the four warps of a warpgroup execute.
class Warpgroup {
 public:
  /// Records that warp `warp` (0 … 3) executes its next wgmma. Returns the wgmma that another warp
  /// executed at this position of the sequence, if it is a different wgmma.
  std::optional<ProductIssue> issue(int warp, const ProductIssue& product);
  /// The number of wgmma that a warp has executed.
  [[nodiscard]] std::uint64_t issued(int warp) const {
    return issued_[static_cast<std::size_t>(warp)];
  }
  /// The number of wgmma that all four warps have executed.
  [[nodiscard]] std::uint64_t issued_by_all() const;

 private:
  std::deque<ProductIssue> open_;  ///< wgmma that not all warps have executed
  std::uint64_t first_ = 0;        ///< index of the first element of `open_`
  std::array<std::uint64_t, kGroupWarps> issued_{};
};

/// Registers that warps of a CTA released by setmaxnreg, as registers per thread times warps.
class RegisterPool {
 public:
  void reset() { free_ = 0; }
  void give(std::uint32_t registers) { free_ += registers; }
  /// Takes registers from the pool; false if there are too few.
  bool take(std::uint32_t registers);
  [[nodiscard]] std::uint32_t free() const { return free_; }

 private:
  std::uint32_t free_ = 0;
};

}  // namespace evo::ptx
