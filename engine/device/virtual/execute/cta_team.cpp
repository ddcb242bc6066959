#include "engine/device/virtual/execute/cta_team.hpp"

#include <algorithm>
#include <array>

namespace evo::ptx {

CtaTeam::CtaTeam(LaunchContext& launch) : launch_(launch) {
  const std::uint32_t size = launch.program->cluster_ctas();
  for (std::uint32_t rank = 0; rank < size; ++rank) ctas_.push_back(std::make_unique<Cta>(launch));
  if (size == 1 && !launch.program->has_cluster_barrier) return;
  cluster_ = std::make_unique<Cluster>(ctas_);
  for (std::uint32_t rank = 0; rank < size; ++rank) ctas_[rank]->join_cluster(cluster_.get(), rank);
}

void CtaTeam::start(std::uint64_t number) {
  const auto& grid = launch_.grid;
  const auto& size = launch_.program->cluster;
  const std::array<std::uint64_t, 2> clusters = {grid[0] / size[0], grid[1] / size[1]};
  const std::array<std::uint64_t, 3> first = {number % clusters[0] * size[0],
                                              number / clusters[0] % clusters[1] * size[1],
                                              number / clusters[0] / clusters[1] * size[2]};
  if (cluster_ != nullptr) cluster_->start();
  running_.clear();
  for (std::uint32_t rank = 0; rank < ctas_.size(); ++rank) {
    const std::array<std::uint32_t, 3> index = {
        static_cast<std::uint32_t>(first[0] + rank % size[0]),
        static_cast<std::uint32_t>(first[1] + rank / size[0] % size[1]),
        static_cast<std::uint32_t>(first[2] + rank / size[0] / size[1])};
    ctas_[rank]->start(
        index, index[0] + std::uint64_t{grid[0]} * (index[1] + std::uint64_t{grid[1]} * index[2]));
    running_.push_back(rank);
  }
  if (cluster_ != nullptr) random_ = Random(mix_seed(launch_.seed, number));
}

CtaState CtaTeam::run(std::uint64_t budget) {
  if (cluster_ == nullptr) return ctas_.front()->run(budget);
  // A CTA gets turns of random length, so that the CTAs do not run in lockstep.
  constexpr std::uint64_t kLongestTurn = 4000;
  for (std::uint64_t done = 0; done < budget;) {
    for (std::size_t left = running_.size(); left > 0; --left) {
      const std::size_t at = random_.below(running_.size());
      const std::uint64_t turn = 1 + random_.below(kLongestTurn);
      done += turn / ctas_.size();
      const CtaState state = ctas_[running_[at]]->run(turn);
      if (state == CtaState::kFailed) return state;
      if (state == CtaState::kDone)
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
      if (running_.empty()) return CtaState::kDone;
    }
    if (stands_aside() || only_polls()) break;
  }
  return CtaState::kRunning;
}

bool CtaTeam::only_polls() const {
  return std::ranges::all_of(ctas_, [](const auto& cta) { return cta->scheduler().only_polls(); });
}

bool CtaTeam::stands_aside() const {
  return std::ranges::any_of(ctas_,
                             [](const auto& cta) { return cta->scheduler().stands_aside(); });
}

}  // namespace evo::ptx
