#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/virtual/execute/launch_context.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Selects, at random by the seed of the launch, which warp of a CTA runs next and for how long,
/// and detects whether the CTA still makes progress.
class WarpScheduler {
 public:
  explicit WarpScheduler(LaunchContext& launch) : launch_(launch), random_(launch.seed) {}

  /// Must be called before CTA number `cta` runs.
  void start(std::uint64_t cta);
  /// A warp that is ready to run; null if no warp is ready.
  [[nodiscard]] Warp* pick(std::vector<Warp>& warps);
  /// Warp instructions before another warp may run.
  [[nodiscard]] std::uint64_t quantum();
  /// Must be called after a change for which another warp or CTA could be waiting.
  void note_progress() { progressed_ = true; }
  /// Must be called after a read that may poll memory that other warps or CTAs change.
  void note_poll() { ++polls_; }
  /// True if the CTA has only polled for a while, so that other CTAs should run.
  [[nodiscard]] bool only_polls() const { return polls_ >= kPollsOfWaiting; }
  /// Must be called after an operation that may take or release a lock: a strong store to global
  /// memory, or an atomic that changed global memory and returned the previous value. True: the CTA
  /// pauses now, so that another CTA can try to enter the critical section.
  [[nodiscard]] bool stands_aside_after_change();
  /// Must be called after a strong read of `value`. True: the CTA pauses now, because another CTA
  /// may take a lock between the read and this CTA's attempt. False if the last read gave the same
  /// value. Pauses occur only in every other launch, because two CTAs that wait for each other
  /// could otherwise always pause both.
  [[nodiscard]] bool stands_aside_after_read(std::uint64_t address, std::uint64_t value);
  /// True if the CTA pauses now, as a member decided since go_on() was last called.
  [[nodiscard]] bool stands_aside() const { return stands_aside_; }
  void go_on() { stands_aside_ = false; }
  /// Counts executed instructions of a warp. False if the CTA is stalled, because it executed too
  /// many instructions, or because it made no progress for too long. A polling CTA is stalled only
  /// if all CTAs are.
  [[nodiscard]] bool count(std::uint64_t executed);

  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Warp instructions since the last change.
  [[nodiscard]] std::uint64_t without_progress() const { return stall_; }

 private:
  static constexpr std::uint64_t kPollsOfWaiting = 100;
  static constexpr int kMostTimesAside = 8;  ///< limit for a CTA

  [[nodiscard]] bool draws_to_stand_aside();
  /// Limit of warp instructions without progress; beyond it, the CTA counts as stalled.
  [[nodiscard]] std::uint64_t stall_budget() const;

  LaunchContext& launch_;
  Random random_;
  std::vector<Warp*> ready_;
  std::uint64_t executed_ = 0;
  std::uint64_t stall_ = 0;
  std::uint64_t polls_ = 0;  ///< since the last change
  std::uint64_t seen_changes_ = 0;
  bool progressed_ = false;
  bool is_stalled_ = false;  ///< the stall has been recorded for `seen_changes_`
  int times_aside_ = 0;
  std::pair<std::uint64_t, std::uint64_t> last_read_;  ///< address and value
  bool stands_aside_ = false;
};

}  // namespace evo::ptx
