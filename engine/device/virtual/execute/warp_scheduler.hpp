#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/virtual/execute/launch_context.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Selects which warp of a CTA runs next and for how long, drawn from the seed of the launch, and
/// detects whether the CTA still makes progress.
class WarpScheduler {
 public:
  explicit WarpScheduler(LaunchContext& launch) : launch_(launch), random_(launch.seed) {}

  /// Call it before the CTA of this number runs.
  void start(std::uint64_t cta);
  /// A ready warp; null if there is none.
  [[nodiscard]] Warp* pick(std::vector<Warp>& warps);
  /// Warp instructions before another warp may run.
  [[nodiscard]] std::uint64_t quantum();
  /// Call it after a change for which another warp or CTA could be waiting.
  void note_progress() { progressed_ = true; }
  /// Call it after a read of memory that others change and that this warp left unchanged.
  void note_poll() { ++polls_; }
  /// True if the CTA has only polled for a while, so that others should run.
  [[nodiscard]] bool only_polls() const { return polls_ >= kPollsOfWaiting; }
  /// Call it after an operation that may take or release a lock: a strong store to global memory,
  /// or an atomic that changed it and returned the previous value. True: the CTA pauses now, so
  /// that another CTA can try to enter.
  [[nodiscard]] bool stands_aside_after_change();
  /// The same after a strong read of `value`, unless the last read gave the same value: a CTA that
  /// reads first and takes later may be overtaken. Applies to every other launch, so that not both
  /// sides of a handshake pause each time.
  [[nodiscard]] bool stands_aside_after_read(std::uint64_t address, std::uint64_t value);
  /// Since the CTA last ran.
  [[nodiscard]] bool stands_aside() const { return stands_aside_; }
  void go_on() { stands_aside_ = false; }
  /// Counts executed instructions of a warp. False if the CTA is stalled: nothing changed for too
  /// long (for polling CTAs, in all of them), or it executed too many instructions.
  [[nodiscard]] bool count(std::uint64_t executed);

  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Warp instructions since the last change.
  [[nodiscard]] std::uint64_t without_progress() const { return stall_; }

 private:
  static constexpr std::uint64_t kPollsOfWaiting = 100;
  static constexpr int kMostTimesAside = 8;  ///< limit for a CTA

  [[nodiscard]] bool draws_to_stand_aside();
  /// Warp instructions without progress that do not yet count as a livelock.
  [[nodiscard]] std::uint64_t stall_budget() const;

  LaunchContext& launch_;
  Random random_;
  std::vector<Warp*> ready_;
  std::uint64_t executed_ = 0;
  std::uint64_t stall_ = 0;
  std::uint64_t polls_ = 0;  ///< since the last change
  std::uint64_t seen_changes_ = 0;
  bool progressed_ = false;
  bool is_stalled_ = false;  ///< recorded at that number of changes
  int times_aside_ = 0;
  std::pair<std::uint64_t, std::uint64_t> last_read_;  ///< address and value
  bool stands_aside_ = false;
};

}  // namespace evo::ptx
