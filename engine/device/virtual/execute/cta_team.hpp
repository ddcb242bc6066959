#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

using GridIndex = std::array<std::uint32_t, 3>;
/// The index of the first CTA of a cluster. `number`: the index of the cluster among all clusters
/// of the grid, x fastest.
[[nodiscard]] GridIndex first_cta(const GridIndex& grid, const GridIndex& cluster,
                                  std::uint64_t number);
/// The linear index of a CTA in the grid, x fastest.
[[nodiscard]] std::uint64_t linear_cta(const GridIndex& grid, const GridIndex& cta);

/// CTAs that start together: the CTAs of a cluster, or a single CTA. One host thread runs a team.
/// After the CTAs have ended, the team can start other CTAs.
class CtaTeam {
 public:
  explicit CtaTeam(LaunchContext& launch);

  /// `number`: the index of the cluster in the grid of clusters, x fastest.
  void start(std::uint64_t number);
  /// Runs about `budget` warp instructions of each CTA, or fewer if the team waits for other CTAs
  /// or pauses.
  CtaState run(std::uint64_t budget);
  [[nodiscard]] const std::vector<std::unique_ptr<Cta>>& ctas() const { return ctas_; }
  /// True if all CTAs only poll or wait for each other, so that other teams should run.
  [[nodiscard]] bool only_polls() const;
  /// True if a CTA must pause, so that other CTAs can run (WarpScheduler::stands_aside()).
  [[nodiscard]] bool stands_aside() const;

 private:
  LaunchContext& launch_;
  std::vector<std::unique_ptr<Cta>> ctas_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<std::size_t> running_;  ///< ranks of the CTAs that have not ended
  Random random_{0};
};

}  // namespace evo::ptx
