#include "engine/device/virtual/checks/releases.hpp"

#include <algorithm>
#include <cstddef>

namespace evo::ptx {

void ReleaseChain::append(const Release& release) {
  // Ignores a release that is already among the last kLatest releases of its CTA. Several are
  // compared, because the warps of a CTA may append their releases alternately.
  constexpr std::size_t kLatest = 32;
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t>& own = of_cta_[release.cta];
  const auto is_same = [&](std::uint32_t at) { return releases_[at] == &release; };
  const auto latest = static_cast<std::ptrdiff_t>(std::min(own.size(), kLatest));
  if (std::any_of(own.end() - latest, own.end(), is_same)) return;
  own.push_back(static_cast<std::uint32_t>(releases_.size()));
  releases_.push_back(&release);
}

std::uint32_t ReleaseChain::length() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(releases_.size());
}

const Release* ReleaseChain::find(std::uint64_t cta, int warp, std::uint32_t time,
                                  std::uint32_t length) const {
  const std::lock_guard lock(mutex_);
  const auto own = of_cta_.find(cta);
  if (own == of_cta_.end()) return nullptr;
  const std::vector<std::uint32_t>& places = own->second;
  const auto found = std::find_if(places.rbegin(), places.rend(), [&](std::uint32_t at) {
    return at < length && releases_[at]->published[static_cast<std::size_t>(warp)] >= time;
  });
  return found == places.rend() ? nullptr : releases_[*found];
}

bool ReleaseChain::follows(std::uint64_t cta, int warp, std::uint32_t time,
                           std::uint32_t length) const {
  const std::lock_guard lock(mutex_);
  const auto own = of_cta_.find(cta);
  if (own == of_cta_.end()) return false;
  return std::ranges::any_of(own->second, [&](std::uint32_t at) {
    const std::vector<std::uint32_t>& known = releases_[at]->known;
    return at < length && !known.empty() && known[static_cast<std::size_t>(warp)] >= time;
  });
}

bool ReleaseChain::publishes_before(std::uint64_t cta, int warp, std::uint32_t time) const {
  const std::lock_guard lock(mutex_);
  const auto own = of_cta_.find(cta);
  if (own == of_cta_.end()) return false;
  return std::ranges::any_of(own->second, [&](std::uint32_t at) {
    const std::uint32_t published = releases_[at]->published[static_cast<std::size_t>(warp)];
    return published > 0 && published < time;
  });
}

std::vector<const Release*> ReleaseChain::slice(std::uint32_t first, std::uint32_t length) const {
  const std::lock_guard lock(mutex_);
  return {releases_.begin() + first, releases_.begin() + length};
}

}  // namespace evo::ptx
