#include "engine/device/virtual/execute/placement.hpp"

#include <algorithm>
#include <numeric>

#include "engine/core/random.hpp"

namespace evo::ptx {
namespace {

enum What : std::uint64_t { kSm, kSmStep, kWarp, kGrid, kOrder, kOrderStep, kClock, kTime, kGap };

/// A step that is coprime to `count`, so that the multiples of the step modulo `count` include
/// every number below `count`.
std::uint64_t step_for(std::uint64_t drawn, std::uint64_t count) {
  std::uint64_t step = count < 2 ? 1 : 1 + drawn % (count - 1);
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

}  // namespace

Placement::Placement(std::uint64_t seed, std::uint64_t number, int sm_count, int warps_per_sm)
    : seed_(mix_seed(seed, number)),
      sm_count_(static_cast<std::uint32_t>(sm_count)),
      warps_per_sm_(static_cast<std::uint32_t>(warps_per_sm)) {}

std::uint64_t Placement::draw(std::uint64_t what, std::uint64_t of) const {
  return mix_seed(mix_seed(seed_, what), of);
}

std::uint32_t Placement::sm_of(std::uint64_t cta) const {
  const std::uint64_t wave = cta / sm_count_;
  const std::uint64_t step = step_for(draw(kSmStep, wave), sm_count_);
  return static_cast<std::uint32_t>((cta % sm_count_ * step + draw(kSm, wave) % sm_count_) %
                                    sm_count_);
}

std::uint32_t Placement::first_warp_of(std::uint64_t cta, std::uint32_t warps) const {
  constexpr std::uint32_t kSchedulers = 4;
  if (warps >= warps_per_sm_) return 0;
  const std::uint32_t places = (warps_per_sm_ - warps) / kSchedulers + 1;
  return static_cast<std::uint32_t>(draw(kWarp, cta) % places) * kSchedulers;
}

std::uint32_t Placement::grid() const { return static_cast<std::uint32_t>(draw(kGrid, 0) >> 33); }

std::uint64_t Placement::cta_at(std::uint64_t position, std::uint64_t ctas,
                                std::uint64_t window) const {
  const std::uint64_t first = position / window * window;
  const std::uint64_t count = std::min(window, ctas - first);
  const std::uint64_t step = step_for(draw(kOrderStep, first), count);
  return first + ((position - first) * step + draw(kOrder, first) % count) % count;
}

DeviceClocks::DeviceClocks(std::uint64_t seed) : seed_(seed) {
  constexpr std::uint64_t kMonths = 10'000'000'000'000'000;
  constexpr std::uint64_t kLate2023 = 1'700'000'000'000'000'000;
  clock_ = mix_seed(seed, kClock) % kMonths;
  nanoseconds_ = kLate2023 + mix_seed(seed, kTime) % kMonths;
}

void DeviceClocks::pass(std::uint64_t number, std::uint64_t instructions) {
  constexpr std::uint64_t kLeastShift = 10;
  constexpr std::uint64_t kShifts = 21;
  const std::uint64_t drawn = mix_seed(mix_seed(seed_, kGap), number);
  const std::uint64_t least = std::uint64_t{1} << (kLeastShift + drawn % kShifts);
  const std::uint64_t gap = instructions + least + (drawn >> 32) % least;
  clock_ += gap;
  nanoseconds_ += gap;
}

}  // namespace evo::ptx
