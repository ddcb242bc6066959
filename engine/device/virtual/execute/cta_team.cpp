#include "engine/device/virtual/execute/cta_team.hpp"

#include <algorithm>
#include <array>

namespace evo::ptx {

GridIndex first_cta(const GridIndex& grid, const GridIndex& cluster, std::uint64_t number) {
  const std::array<std::uint64_t, 2> clusters = {grid[0] / cluster[0], grid[1] / cluster[1]};
  return {static_cast<std::uint32_t>(number % clusters[0] * cluster[0]),
          static_cast<std::uint32_t>(number / clusters[0] % clusters[1] * cluster[1]),
          static_cast<std::uint32_t>(number / clusters[0] / clusters[1] * cluster[2])};
}

std::uint64_t linear_cta(const GridIndex& grid, const GridIndex& cta) {
  return cta[0] + std::uint64_t{grid[0]} * (cta[1] + std::uint64_t{grid[1]} * cta[2]);
}

CtaTeam::CtaTeam(LaunchContext& launch) : launch_(launch) {
  const std::uint32_t size = launch.program->cluster_ctas();
  for (std::uint32_t rank = 0; rank < size; ++rank) ctas_.push_back(std::make_unique<Cta>(launch));
  if (size == 1 && !launch.program->has_cluster_barrier) return;
  cluster_ = std::make_unique<Cluster>(ctas_);
  for (std::uint32_t rank = 0; rank < size; ++rank) ctas_[rank]->join_cluster(cluster_.get(), rank);
}

void CtaTeam::start(std::uint64_t number) {
  const auto& size = launch_.program->cluster;
  const GridIndex first = first_cta(launch_.grid, size, number);
  if (cluster_ != nullptr) cluster_->start();
  running_.clear();
  for (std::uint32_t rank = 0; rank < ctas_.size(); ++rank) {
    const GridIndex cta = {first[0] + rank % size[0], first[1] + rank / size[0] % size[1],
                           first[2] + rank / size[0] / size[1]};
    ctas_[rank]->start(cta, linear_cta(launch_.grid, cta));
    running_.push_back(rank);
  }
  if (cluster_ != nullptr) random_ = Random(mix_seed(launch_.seed, number));
}

CtaState CtaTeam::run(std::uint64_t budget) {
  if (cluster_ == nullptr) {
    const CtaState state = ctas_.front()->run(budget);
    if (state == CtaState::kDone) launch_.progress.note_ended();
    return state;
  }
  // Turns have a random length, so that the CTAs do not run in lockstep.
  constexpr std::uint64_t kLongestTurn = 4000;
  for (std::uint64_t done = 0; done < budget;) {
    for (std::size_t left = running_.size(); left > 0; --left) {
      const std::size_t at = random_.below(running_.size());
      const std::uint64_t turn = 1 + random_.below(kLongestTurn);
      done += turn / ctas_.size();
      const CtaState state = ctas_[running_[at]]->run(turn);
      if (state == CtaState::kFailed) return state;
      if (state == CtaState::kDone) {
        launch_.progress.note_ended();
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (running_.empty()) return CtaState::kDone;
    }
    if (stands_aside() || only_polls()) break;
  }
  return CtaState::kRunning;
}

bool CtaTeam::only_polls() const {
  if (cluster_ == nullptr) return ctas_.front()->scheduler().only_polls();
  return std::ranges::all_of(running_, [&](std::size_t rank) {
    return ctas_[rank]->scheduler().only_polls() || ctas_[rank]->is_blocked();
  });
}

bool CtaTeam::stands_aside() const {
  return std::ranges::any_of(ctas_,
                             [](const auto& cta) { return cta->scheduler().stands_aside(); });
}

}  // namespace evo::ptx
