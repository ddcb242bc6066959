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

/// CTAs of a grid in the order in which they are looked at: the first, the last, then as drawn.
class CtaDraw {
 public:
  CtaDraw(std::uint64_t ctas, std::uint64_t seed) : ctas_(ctas), random_(seed) {}

  /// The next `count`, in the order of the grid; fewer where no more are left.
  [[nodiscard]] std::vector<std::uint64_t> next(std::uint64_t count);

 private:
  std::uint64_t ctas_;
  Random random_;
  std::set<std::uint64_t> drawn_;
};

/// Executes CTAs of a launch and counts what they do.
using ExecuteCtas = std::function<std::variant<GridCounts, Fault>(std::vector<std::uint64_t> ctas)>;

/// Which CTAs of a grid go the same way through a program, as a slice of it shows.
class GridSurvey {
 public:
  /// CTAs that go the same way.
  struct Group {
    std::uint64_t work = 0;           ///< warp instructions of the slice
    std::vector<std::uint64_t> ctas;  ///< in the order of the grid
  };

  explicit GridSurvey(std::vector<CtaWay> ways);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// The group of a CTA; of one that was not looked at, that of the nearest one.
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

/// Executes a slice for all CTAs of a grid, or for as many as are drawn where that were too much
/// work. Nothing where it fails.
[[nodiscard]] std::optional<GridSurvey> survey_grid(std::uint64_t ctas, std::uint64_t seed,
                                                    int warps_per_cta,
                                                    const ExecuteCtas& execute_slice);

}  // namespace evo::ptx
