#include "engine/device/virtual/execute/warpgroup.hpp"

#include <algorithm>

namespace evo::ptx {

std::optional<ProductIssue> Warpgroup::issue(int warp, const ProductIssue& product) {
  const std::uint64_t number = issued_[static_cast<std::size_t>(warp)]++;
  std::optional<ProductIssue> other;
  if (number - first_ == open_.size()) {
    open_.push_back(product);
  } else if (const ProductIssue& seen = open_[number - first_]; !(seen == product)) {
    other = seen;
  }
  for (const std::uint64_t done = issued_by_all(); first_ < done; ++first_) open_.pop_front();
  return other;
}

std::uint64_t Warpgroup::issued_by_all() const { return *std::ranges::min_element(issued_); }

bool RegisterPool::take(std::uint32_t registers) {
  if (registers > free_) return false;
  free_ -= registers;
  return true;
}

}  // namespace evo::ptx
