#include "engine/device/virtual/execute/warp_scheduler.hpp"

namespace evo::ptx {

void WarpScheduler::start(std::uint64_t cta) {
  random_ = Random(mix_seed(launch_.seed, cta));
  executed_ = 0;
  stall_ = 0;
  progressed_ = false;
}

Warp* WarpScheduler::pick(std::vector<Warp>& warps) {
  ready_.clear();
  for (Warp& warp : warps) {
    if (warp.state == WarpState::kReady) ready_.push_back(&warp);
  }
  return ready_.empty() ? nullptr : ready_[random_.below(ready_.size())];
}

std::uint64_t WarpScheduler::quantum() {
  constexpr std::uint64_t kQuantum = 2000;
  // A random share, so that warps do not stay in step.
  return kQuantum / 2 + random_.below(kQuantum);
}

bool WarpScheduler::count(std::uint64_t executed) {
  executed_ += executed;
  const std::uint64_t seen = launch_.progress.load(std::memory_order_relaxed);
  if (progressed_ || seen != seen_progress_) {
    if (progressed_) launch_.progress.fetch_add(1, std::memory_order_relaxed);
    seen_progress_ = launch_.progress.load(std::memory_order_relaxed);
    progressed_ = false;
    stall_ = 0;
  }
  stall_ += executed;
  return stall_ <= launch_.stall_budget && executed_ <= launch_.issue_budget;
}

}  // namespace evo::ptx
