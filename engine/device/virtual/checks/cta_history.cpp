#include "engine/device/virtual/checks/cta_history.hpp"

#include <algorithm>
#include <utility>

namespace evo::ptx {
namespace {

void raise(std::vector<std::uint32_t>& times, const std::vector<std::uint32_t>& others) {
  times.resize(std::max(times.size(), others.size()));
  for (std::size_t i = 0; i < others.size(); ++i) times[i] = std::max(times[i], others[i]);
}

/// True if the access that warp `by` made at `time` is ordered before the current time of `warp`.
bool is_before(int by, std::uint32_t time, int warp, const VectorClock& clock) {
  return by == warp || clock[static_cast<std::size_t>(by)] >= time;
}

}  // namespace

CtaHistory::CtaHistory(std::uint64_t cta, int warps, bool records_unfenced)
    : cta_(cta),
      warps_(static_cast<std::size_t>(warps)),
      records_unfenced_(records_unfenced),
      acquired_(warps_),
      latest_(warps_),
      knowledge_(warps_) {}

void CtaHistory::acquire(int warp, const VectorClock& clock, const ReleaseChain& chain,
                         std::uint32_t length) {
  const auto w = static_cast<std::size_t>(warp);
  std::uint32_t& known = acquired_[w][&chain];
  if (length <= known) return;
  known = length;
  const Acquisition* before = acquisitions_.empty() ? nullptr : &acquisitions_.back();
  acquisitions_.push_back({&chain, length, warp, clock[w],
                           static_cast<std::uint32_t>(acquisitions_.size() + 1), before});
}

const Release* CtaHistory::release(int warp, const VectorClock& clock) {
  const auto part = [&](std::size_t first) {
    const auto* from = clock.times.data() + first;
    return std::vector<std::uint32_t>(from, from + warps_);
  };
  Release made{cta_, part(kPublished), {}, nullptr};
  if (records_unfenced_ || !acquisitions_.empty()) made.known = part(0);
  if (!acquisitions_.empty()) made.acquired = &acquisitions_.back();
  const bool is_empty =
      made.known.empty() && std::ranges::all_of(made.published, [](auto t) { return t == 0; });
  if (is_empty) return nullptr;
  const Release*& latest = latest_[static_cast<std::size_t>(warp)];
  if (latest == nullptr || *latest != made) latest = &releases_.emplace_back(std::move(made));
  return latest;
}

void CtaHistory::fence(int warp, const VectorClock& clock) {
  if (const Release* now = release(warp, clock)) fences_.append(*now);
}

bool CtaHistory::knows(int warp, const VectorClock& clock, std::uint64_t other, int other_warp,
                       std::uint32_t time) {
  Knowledge& knowledge = knowledge_[static_cast<std::size_t>(warp)];
  const auto ow = static_cast<std::size_t>(other_warp);
  const auto published = knowledge.published.find(other);
  if (published != knowledge.published.end() && published->second[ow] >= time) return true;
  const auto search = [&](const Chains& chains) {
    for (const auto& [chain, length] : chains) {
      const Release* found = chain->find(other, other_warp, time, length);
      if (found == nullptr) continue;
      raise(knowledge.published[other], found->published);
      return true;
    }
    return false;
  };
  take_acquisitions(knowledge, warp, clock);
  if (search(knowledge.direct)) return true;
  extend(knowledge);
  return search(knowledge.all);
}

bool CtaHistory::follows(int warp, const VectorClock& clock, std::uint64_t other, int other_warp,
                         std::uint32_t time) {
  Knowledge& knowledge = knowledge_[static_cast<std::size_t>(warp)];
  take_acquisitions(knowledge, warp, clock);
  return std::ranges::any_of(knowledge.direct, [&](const auto& chain) {
    return chain.first->follows(other, other_warp, time, chain.second);
  });
}

void CtaHistory::take_acquisitions(Knowledge& knowledge, int warp, const VectorClock& clock) const {
  for (; knowledge.taken < acquisitions_.size(); ++knowledge.taken) {
    knowledge.waiting.push_back(&acquisitions_[knowledge.taken]);
  }
  std::erase_if(knowledge.waiting, [&](const Acquisition* one) {
    if (!is_before(one->warp, one->time, warp, clock)) return false;
    std::uint32_t& length = knowledge.direct[one->chain];
    length = std::max(length, one->length);
    return true;
  });
}

void CtaHistory::extend(Knowledge& knowledge) {
  std::vector<std::pair<const ReleaseChain*, std::uint32_t>> open(knowledge.direct.begin(),
                                                                  knowledge.direct.end());
  while (!open.empty()) {
    const auto [chain, length] = open.back();
    open.pop_back();
    std::uint32_t& done = knowledge.all[chain];
    if (length <= done) continue;
    const std::uint32_t first = std::exchange(done, length);
    for (const Release* release : chain->slice(first, length)) {
      if (release->acquired == nullptr) continue;
      Reached& reached = knowledge.reached[release->cta];
      raise(reached.known, release->known);
      bool is_whole = true;
      for (const Acquisition* one = release->acquired;
           one != nullptr && one->number > reached.taken; one = one->before) {
        const bool counts = reached.known[static_cast<std::size_t>(one->warp)] >= one->time;
        if (counts) open.emplace_back(one->chain, one->length);
        is_whole = is_whole && counts;
      }
      if (is_whole) reached.taken = std::max(reached.taken, release->acquired->number);
    }
  }
}

void CtaHistory::see(int warp, const VectorClock& clock, const void* place, std::uint64_t change) {
  const auto known = seen_.find(place);
  if (known != seen_.end() && known->second.change == change) return;
  if (known == seen_.end() && seen_.size() >= kMostPlaces) return;
  seen_[place] = {change, warp, clock[static_cast<std::size_t>(warp)]};
}

bool CtaHistory::has_seen(int warp, const VectorClock& clock, const void* place,
                          std::uint64_t change) const {
  const auto known = seen_.find(place);
  if (known == seen_.end()) return seen_.size() >= kMostPlaces;
  return known->second.change == change &&
         is_before(known->second.warp, known->second.time, warp, clock);
}

}  // namespace evo::ptx
