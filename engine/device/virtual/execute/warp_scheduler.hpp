#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/virtual/execute/launch_context.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// Which warp of a CTA runs next and for how long, drawn from the seed of the launch; and whether
/// the CTA still gets anywhere.
class WarpScheduler {
 public:
  explicit WarpScheduler(LaunchContext& launch) : launch_(launch), random_(launch.seed) {}

  /// Before the CTA of this number runs.
  void start(std::uint64_t cta);
  /// A warp that is ready; nullptr when none is.
  [[nodiscard]] Warp* pick(std::vector<Warp>& warps);
  /// Warp instructions before another warp may run.
  [[nodiscard]] std::uint64_t quantum();
  /// Called when something happened that another warp or CTA could be waiting for.
  void note_progress() { progressed_ = true; }
  /// Called when memory was looked at that others change, and nothing was changed by it.
  void note_poll() { ++polls_; }
  /// True when the CTA only looks whether something changed, for a while: time for others to run.
  [[nodiscard]] bool only_polls() const { return polls_ >= kPollsOfWaiting; }
  /// Called after what may let others in or keep them out: a strong store to global memory, or an
  /// atomic that changed it and told what was there, as one does by which a lock is taken. True:
  /// the CTA stands aside now, so that whoever can come beside it does.
  [[nodiscard]] bool stands_aside_after_change();
  /// The same after a strong read of `value`, unless the last one read the same: who looks first
  /// and takes later may be overtaken. In every other launch, so that not always both sides of a
  /// handshake stand aside.
  [[nodiscard]] bool stands_aside_after_read(std::uint64_t address, std::uint64_t value);
  /// Since the CTA ran last.
  [[nodiscard]] bool stands_aside() const { return stands_aside_; }
  void go_on() { stands_aside_ = false; }
  /// Counts what a warp executed. False when the CTA is stalled: nothing changed for too long, of
  /// CTAs that only poll for all of them; or it executed too much.
  [[nodiscard]] bool count(std::uint64_t executed);

  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Warp instructions since something changed.
  [[nodiscard]] std::uint64_t without_progress() const { return stall_; }

 private:
  static constexpr std::uint64_t kPollsOfWaiting = 100;
  static constexpr int kMostTimesAside = 8;  ///< of a CTA

  [[nodiscard]] bool draws_to_stand_aside();
  /// Warp instructions without progress that are no livelock yet.
  [[nodiscard]] std::uint64_t stall_budget() const;

  LaunchContext& launch_;
  Random random_;
  std::vector<Warp*> ready_;
  std::uint64_t executed_ = 0;
  std::uint64_t stall_ = 0;
  std::uint64_t polls_ = 0;  ///< since something changed
  std::uint64_t seen_changes_ = 0;
  bool progressed_ = false;
  bool is_stalled_ = false;  ///< noted at that number of changes
  int times_aside_ = 0;
  std::pair<std::uint64_t, std::uint64_t> last_read_;  ///< address and value
  bool stands_aside_ = false;
};

}  // namespace evo::ptx
