#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/virtual/execute/launch_context.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Selects which warp of a CTA runs next and for how long, at random from the seed of the launch. A
/// WarpScheduler also detects whether the CTA still makes progress.
class WarpScheduler {
 public:
  explicit WarpScheduler(LaunchContext& launch) : launch_(launch), random_(launch.seed) {}

  /// Must be called before CTA number `cta` runs.
  void start(std::uint64_t cta);
  /// Returns a warp that is ready to run, or null if no warp is ready.
  [[nodiscard]] Warp* pick(std::vector<Warp>& warps);
  /// Number of warp instructions after which another warp of the CTA may run.
  [[nodiscard]] std::uint64_t quantum();
  /// Must be called for each action for which another warp or CTA could be waiting, such as a store
  /// that may change memory.
  void note_progress() { progressed_ = true; }
  /// Must be called after a read that may poll memory that other warps or CTAs change. Returns true
  /// if the warp must end its turn, so that a CTA that only polls costs little.
  [[nodiscard]] bool note_poll() { return ++polls_ >= kPollsOfWaiting && !launch_.count_memory; }
  /// Must be called if no warp of the CTA can run until another CTA does something.
  void note_blocked();
  /// True if the CTA has polled at least kPollsOfWaiting times since a CTA last made progress, so
  /// that other CTAs should run.
  [[nodiscard]] bool only_polls() const { return polls_ >= kPollsOfWaiting; }
  /// Must be called for each operation that may take or release a lock: a strong store to global
  /// memory, or an atomic that changed global memory and returned the previous value. Returns true
  /// if the CTA must pause after the operation, so that another CTA can try to enter the critical
  /// section that the lock protects.
  [[nodiscard]] bool stands_aside_after_change();
  /// Must be called after a strong read, at `address`, of `value`. Returns true if the CTA must
  /// pause now, so that another CTA can take a lock between this CTA's read and its attempt to take
  /// the lock. Returns false if the previous strong read gave the same value. These pauses occur
  /// only in every other launch, because two CTAs that wait for each other could otherwise both be
  /// paused again and again.
  [[nodiscard]] bool stands_aside_after_read(std::uint64_t address, std::uint64_t value);
  /// Whether a strong read for which GlobalRaces::old_value() is allowed returns the old value.
  [[nodiscard]] bool draws_old_value() { return random_.below(2) == 0; }
  /// True if the scheduler has decided, since the last go_on(), that the CTA must pause.
  [[nodiscard]] bool stands_aside() const { return stands_aside_; }
  void go_on() { stands_aside_ = false; }
  /// Must be called with the number of instructions that a warp has executed; returns false if the
  /// CTA is stalled, because it executed too many instructions, or because it made no progress for
  /// too long. A polling CTA counts as stalled only if all CTAs are stalled, except while times are
  /// predicted.
  [[nodiscard]] bool count(std::uint64_t executed);

  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Number of warp instructions since the CTA last made progress.
  [[nodiscard]] std::uint64_t without_progress() const { return stall_; }

 private:
  static constexpr std::uint64_t kPollsOfWaiting = 100;
  static constexpr int kMostTimesAside = 8;  ///< limit of a CTA's pauses

  [[nodiscard]] bool draws_to_stand_aside();
  /// Limit of the warp instructions without progress; a CTA that exceeds it counts as stalled.
  [[nodiscard]] std::uint64_t stall_budget() const;

  LaunchContext& launch_;
  Random random_;
  std::vector<Warp*> ready_;
  std::uint64_t executed_ = 0;
  std::uint64_t stall_ = 0;
  std::uint64_t polls_ = 0;  ///< number of polls since the last change
  std::uint64_t seen_changes_ = 0;
  bool progressed_ = false;
  bool is_stalled_ = false;  ///< the stall has been recorded for `seen_changes_`
  int times_aside_ = 0;
  std::pair<std::uint64_t, std::uint64_t> last_read_;  ///< address and value of a strong read
  bool takes_short_turns_ = false;                     ///< decided for each CTA
  bool stands_aside_ = false;
};

}  // namespace evo::ptx
