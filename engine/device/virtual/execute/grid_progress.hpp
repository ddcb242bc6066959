#pragma once

#include <atomic>
#include <cstdint>

namespace evo::ptx {

/// Determines whether the CTAs of a launch still make progress. Because a host thread may be
/// delayed arbitrarily, CTAs that wait for other CTAs count as stalled only if all CTAs wait.
/// Thread-safe.
class GridProgress {
 public:
  /// Must be called before the first CTA of a launch starts. `room`: the number of CTAs that can be
  /// resident at once.
  void start(std::uint64_t ctas, std::uint64_t room) {
    not_started_ = ctas;
    room_ = room;
  }
  void note_started() {
    under_way_.fetch_add(1);
    not_started_.fetch_sub(1);
  }
  void note_ended() { under_way_.fetch_sub(1); }
  /// The number of CTAs that have started and have not ended.
  [[nodiscard]] std::uint64_t under_way() const { return under_way_.load(); }

  /// Records an action for which other CTAs could be waiting, such as a store that changed memory.
  void note_change() {
    std::uint64_t before = state_.load();
    while (!state_.compare_exchange_weak(before, (before / kChange + 1) * kChange)) {
    }
  }
  /// The number of calls of note_change().
  [[nodiscard]] std::uint64_t changes() const { return state_.load() / kChange; }
  /// Records that a CTA only waits for other CTAs: it has spent its budget of instructions without
  /// progress, or none of its warps can run. Must be called at most once for each CTA and each
  /// value of changes().
  void note_stalled(std::uint64_t changes) {
    std::uint64_t before = state_.load();
    while (before / kChange == changes && !state_.compare_exchange_weak(before, before + 1)) {
    }
  }
  /// True if every running CTA has only waited since the last note_change(), and no further CTA can
  /// start.
  [[nodiscard]] bool are_all_stalled() const {
    const std::uint64_t stalled = state_.load() % kChange;
    return stalled >= under_way_ && (not_started_ == 0 || under_way_ >= room_);
  }

 private:
  static constexpr std::uint64_t kChange = 1ULL << 24;

  /// lowest 24 bits: number of CTAs that have stalled since the last note_change(); other bits:
  /// number of calls of note_change()
  std::atomic<std::uint64_t> state_{0};
  std::atomic<std::uint64_t> under_way_{0};
  std::atomic<std::uint64_t> not_started_{0};
  std::uint64_t room_ = 0;
};

}  // namespace evo::ptx
