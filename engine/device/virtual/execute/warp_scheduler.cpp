#include "engine/device/virtual/execute/warp_scheduler.hpp"

#include <algorithm>

namespace evo::ptx {

void WarpScheduler::start(std::uint64_t cta) {
  random_ = Random(mix_seed(launch_.seed, cta));
  takes_short_turns_ = launch_.check && random_.below(16) == 0;
  executed_ = 0;
  stall_ = 0;
  polls_ = 0;
  progressed_ = false;
  is_stalled_ = false;
  times_aside_ = 0;
  last_read_ = {};
  stands_aside_ = false;
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
  constexpr std::uint64_t kShort = 16;
  // The number of instructions that a warp runs at a time is random, so that warps do not run in
  // lockstep. Some turns, and all turns of some CTAs, are short, so that another warp may run
  // between a load and the store that depends on it.
  const bool is_short = takes_short_turns_ || (launch_.check && random_.below(4) == 0);
  if (is_short) return 1 + random_.below(kShort);
  return kQuantum / 2 + random_.below(kQuantum);
}

bool WarpScheduler::stands_aside_after_change() { return draws_to_stand_aside(); }

bool WarpScheduler::stands_aside_after_read(std::uint64_t address, std::uint64_t value) {
  const std::pair read{address, value};
  if (read == last_read_) return false;
  last_read_ = read;
  return launch_.number % 2 == 1 && draws_to_stand_aside();
}

bool WarpScheduler::draws_to_stand_aside() {
  if (!launch_.check || times_aside_ == kMostTimesAside || random_.below(2) == 0) return false;
  ++times_aside_;
  stands_aside_ = true;
  return true;
}

bool WarpScheduler::count(std::uint64_t executed) {
  executed_ += executed;
  if (progressed_) launch_.progress.note_change();
  const std::uint64_t changes = launch_.progress.changes();
  if (progressed_ || changes != seen_changes_) {
    seen_changes_ = changes;
    progressed_ = false;
    is_stalled_ = false;
    stall_ = 0;
    polls_ = 0;
  }
  stall_ += executed;
  if (executed_ > launch_.issue_budget) return false;
  if (stall_ <= stall_budget()) return true;
  if (!only_polls() || launch_.count_memory) return false;
  if (!is_stalled_) launch_.progress.note_stalled(seen_changes_);
  is_stalled_ = true;
  return !launch_.progress.are_all_stalled();
}

void WarpScheduler::note_blocked() {
  if (progressed_) launch_.progress.note_change();
  const std::uint64_t changes = launch_.progress.changes();
  if (is_stalled_ && !progressed_ && changes == seen_changes_) return;
  seen_changes_ = changes;
  progressed_ = false;
  stall_ = 0;
  polls_ = 0;
  is_stalled_ = true;
  launch_.progress.note_stalled(changes);
}

std::uint64_t WarpScheduler::stall_budget() const {
  // CTAs that only poll share one budget, so that many CTAs do not delay the report of a hang.
  constexpr std::uint64_t kLeast = 200'000;
  const std::uint64_t budget = launch_.stall_budget;
  if (!only_polls() || launch_.count_memory) return budget;
  const std::uint64_t ctas = std::max<std::uint64_t>(launch_.progress.under_way(), 1);
  return std::max(budget / ctas, std::min(budget, kLeast));
}

}  // namespace evo::ptx
