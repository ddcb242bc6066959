#pragma once

#include <atomic>
#include <cstdint>

namespace evo::ptx {

/// Whether the CTAs of a launch still get anywhere. A host thread may be held up for any time, so
/// that CTAs which wait for others are stalled together or not at all. Thread-safe.
class GridProgress {
 public:
  /// Before the first CTA: how many there are, and how many there is room for at once.
  void start(std::uint64_t ctas, std::uint64_t room) {
    not_started_ = ctas;
    room_ = room;
  }
  void note_started() {
    under_way_.fetch_add(1);
    not_started_.fetch_sub(1);
  }
  void note_ended() { under_way_.fetch_sub(1); }
  /// CTAs that started and have not ended.
  [[nodiscard]] std::uint64_t under_way() const { return under_way_.load(); }

  /// Something changed that other CTAs could wait for.
  void note_change() {
    std::uint64_t before = state_.load();
    while (!state_.compare_exchange_weak(before, (before / kChange + 1) * kChange)) {
    }
  }
  /// How often something did.
  [[nodiscard]] std::uint64_t changes() const { return state_.load() / kChange; }
  /// One CTA, once for each number of changes, has only waited for its whole budget.
  void note_stalled(std::uint64_t changes) {
    std::uint64_t before = state_.load();
    while (before / kChange == changes && !state_.compare_exchange_weak(before, before + 1)) {
    }
  }
  /// Every CTA under way has, and no other has room to start.
  [[nodiscard]] bool are_all_stalled() const {
    const std::uint64_t stalled = state_.load() % kChange;
    return stalled >= under_way_ && (not_started_ == 0 || under_way_ >= room_);
  }

 private:
  static constexpr std::uint64_t kChange = 1ULL << 24;

  std::atomic<std::uint64_t> state_{0};  ///< changes, and in the lower 24 bits who stalled since
  std::atomic<std::uint64_t> under_way_{0};
  std::atomic<std::uint64_t> not_started_{0};
  std::uint64_t room_ = 0;
};

}  // namespace evo::ptx
