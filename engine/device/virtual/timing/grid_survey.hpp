#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/device.hpp"
#include "engine/device/virtual/execute/grid_runner.hpp"

namespace evo::ptx {

/// Draws the CTAs of a grid that are to be executed: first the CTA with the lowest index, then that
/// with the highest, then random CTAs.
class CtaDraw {
 public:
  CtaDraw(std::uint64_t ctas, std::uint64_t seed) : ctas_(ctas), random_(seed) {}

  /// The next `count` CTAs of the draw, sorted by index; fewer if the grid has fewer left.
  [[nodiscard]] std::vector<std::uint64_t> next(std::uint64_t count);

 private:
  std::uint64_t ctas_;
  Random random_;
  std::set<std::uint64_t> drawn_;
};

/// A function that executes CTAs of a launch and counts their operations.
using ExecuteCtas = std::function<std::variant<GridCounts, Fault>(std::vector<std::uint64_t> ctas)>;

/// Groups the CTAs of a grid by their paths through a program, which are found by executing a slice
/// of the program (store_slice.hpp).
class GridSurvey {
 public:
  /// A group of CTAs that take the same path through the slice, in the order of the grid.
  using Group = std::vector<std::uint64_t>;

  explicit GridSurvey(std::vector<CtaWay> ways);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// The index of the group that contains a CTA. If the slice was not executed for the CTA, returns
  /// the group of the nearest CTA for which it was executed.
  [[nodiscard]] std::size_t group_of(std::uint64_t cta) const;
  [[nodiscard]] std::uint64_t ctas() const { return ways_.size(); }

 private:
  struct Place {
    std::uint64_t cta;
    std::size_t group;
  };
  std::vector<Group> groups_;  ///< from the least work to the most
  std::vector<Place> ways_;    ///< in the order of the grid
};

/// Executes a slice of the kernel for all CTAs of a grid, or for a random sample of them if all
/// would take too many instructions; nullopt if the slice cannot be executed.
[[nodiscard]] std::optional<GridSurvey> survey_grid(std::uint64_t ctas, std::uint64_t seed,
                                                    int warps_per_cta,
                                                    const ExecuteCtas& execute_slice);

}  // namespace evo::ptx
