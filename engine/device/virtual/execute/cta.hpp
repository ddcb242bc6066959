#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/place_names.hpp"
#include "engine/device/virtual/checks/race_checker.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/launch_context.hpp"
#include "engine/device/virtual/execute/named_barriers.hpp"
#include "engine/device/virtual/execute/warp.hpp"
#include "engine/device/virtual/execute/warp_scheduler.hpp"
#include "engine/device/virtual/execute/warpgroup.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/predict/sync_event.hpp"

namespace evo::ptx {

/// What one instruction asked of memory, over all warps of a CTA.
struct MemoryCounts {
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t global_sectors = 0;        ///< 32-byte sectors asked of L1 / L2
  std::uint64_t global_lines = 0;          ///< of 128 bytes: each takes a pass of L1
  std::uint64_t global_sectors_first = 0;  ///< read by this CTA for the first time
  std::uint64_t global_bytes_written = 0;
  std::uint64_t sleep_ns = 0;  ///< of nanosleep, the longest of a warp's lanes
  std::uint64_t prints = 0;    ///< calls of printf by lanes

  MemoryCounts& operator+=(const MemoryCounts& other);
};

/// An mbarrier object; its 8 bytes in shared memory hold an opaque pattern.
struct MBarrier {
  std::uint32_t count = 0;  ///< arrivals a phase needs
  std::uint32_t pending = 0;
  std::int64_t transactions = 0;
  std::uint64_t phase = 0;  ///< completed phases
  VectorClock arriving{};
  VectorClock completed{};
};

enum class CtaState : std::uint8_t { kRunning, kDone, kFailed };

/// Memory of the host that one CTA of the launch takes, about.
[[nodiscard]] std::uint64_t cta_bytes(const LaunchContext& launch);

/// One CTA: its warps, shared memory and barriers. Reused for one CTA after another.
class Cta {
 public:
  explicit Cta(LaunchContext& launch);
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;

  void start(std::array<std::uint32_t, 3> index, std::uint64_t linear_index);
  /// Runs about `budget` warp instructions, fewer when it waits for another CTA or stands aside.
  CtaState run(std::uint64_t budget);

  [[nodiscard]] LaunchContext& launch() const { return launch_; }
  [[nodiscard]] const Program& program() const { return *launch_.program; }
  [[nodiscard]] const std::array<std::uint32_t, 3>& index() const { return index_; }
  /// Its place in the grid, x fastest.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// What it saw of other CTAs and published; nullptr until there is something to note.
  [[nodiscard]] CtaHistory* history() const { return history_; }
  CtaHistory& made_history();
  /// Of memory that kernels may write, until an atomic comes to that place.
  [[nodiscard]] GlobalRaces::PlainReads& plain_reads() { return plain_reads_; }
  [[nodiscard]] std::vector<Warp>& warps() { return warps_; }
  [[nodiscard]] RaceChecker& races() { return races_; }
  [[nodiscard]] std::byte* shared() { return shared_.data(); }
  [[nodiscard]] std::uint32_t shared_bytes() const { return launch_.shared_bytes; }
  [[nodiscard]] std::byte* local(const Warp& warp, int lane);
  [[nodiscard]] std::uint8_t* local_written(const Warp& warp, int lane);
  [[nodiscard]] std::uint32_t thread_count() const { return thread_count_; }
  [[nodiscard]] NamedBarriers& barriers() { return barriers_; }
  [[nodiscard]] WarpScheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const PlaceNames& names() const { return names_; }
  [[nodiscard]] std::unordered_map<std::uint32_t, MBarrier>& mbarriers() { return mbarriers_; }
  [[nodiscard]] VectorClock& sync_location(std::uint64_t address);
  [[nodiscard]] const VectorClock* find_sync_location(std::uint64_t address) const;
  [[nodiscard]] VectorClock& fenced(int warp) { return fenced_[static_cast<std::size_t>(warp)]; }
  [[nodiscard]] VectorClock& observed(int warp) {
    return observed_[static_cast<std::size_t>(warp)];
  }
  [[nodiscard]] Warpgroup& warpgroup(const Warp& warp) {
    return warpgroups_[static_cast<std::size_t>(warp.index / kGroupWarps)];
  }
  [[nodiscard]] RegisterPool& register_pool() { return register_pool_; }
  /// How often warps executed each instruction: all of them; or, if the launch counts memory, the
  /// first warp, then the second, …
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
  /// How often the first warp, the second, … took each branch; empty unless the launch counts
  /// memory.
  [[nodiscard]] const std::vector<std::uint64_t>& taken() const { return taken_; }
  /// Of each instruction; empty unless the launch counts memory.
  [[nodiscard]] std::vector<MemoryCounts>& memory_counts() { return memory_counts_; }
  /// Counts of what it executes from now on begin at 0.
  void clear_counts();
  /// Atomic operations by their addresses in global memory; filled if the launch counts memory.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::uint64_t>& atomics() { return atomics_; }
  /// Sectors of global memory that it read; filled if the launch counts memory.
  [[nodiscard]] std::unordered_set<std::uint64_t>& sectors_read() { return sectors_read_; }
  /// What its warps did at barriers; recorded if the launch counts memory.
  [[nodiscard]] const std::vector<std::vector<SyncEvent>>& syncs() const { return syncs_; }
  void note_sync(const Warp& warp, std::uint32_t barrier, std::int64_t arrives,
                 std::int64_t awaits);
  [[nodiscard]] std::vector<GlobalBuffer*>& buffer_cache() { return buffer_cache_; }

  /// Adds a hazard that lets the kernel go on.
  void report(HazardKind kind, int instruction, int other, std::string what);
  /// Adds a hazard after which nothing sensible can run, and ends the launch.
  void fail(HazardKind kind, int instruction, int other, std::string what);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool is_reported(HazardKind kind, int instruction, int other) const;

  void on_exit(Warp& warp);
  /// The warp executes its instruction again once wake_retrying() was called.
  void retry_later(Warp& warp, const Instr& in);
  void wake_retrying();

 private:
  void fill_specials(Warp& warp);
  void reset_warp(Warp& warp);
  void report_deadlock();
  void report_livelock(const Warp& warp);
  void check_leftovers();
  void check_warpgroups();
  std::string describe_wait(const Warp& warp) const;

  LaunchContext& launch_;
  std::uint32_t thread_count_ = 0;
  std::array<std::uint32_t, 3> index_{};
  std::uint64_t number_ = 0;
  CtaHistory* history_ = nullptr;
  GlobalRaces::PlainReads plain_reads_;
  std::vector<std::byte> register_file_;
  std::vector<std::uint8_t> taint_file_;
  std::vector<Warp> warps_;
  std::vector<std::byte> shared_;
  std::size_t local_stride_ = 0;  ///< of threads: their memory is aligned as their addresses are
  std::vector<std::byte> local_;
  std::vector<std::uint8_t> local_written_;
  RaceChecker races_;
  NamedBarriers barriers_{warps_, races_};
  WarpScheduler scheduler_;
  PlaceNames names_;
  std::unordered_map<std::uint32_t, MBarrier> mbarriers_;
  std::unordered_map<std::uint64_t, VectorClock>
      sync_locations_;  ///< release clocks of flags in memory
  std::vector<VectorClock> fenced_;
  std::vector<VectorClock> observed_;
  std::vector<Warpgroup> warpgroups_;
  RegisterPool register_pool_;
  std::vector<GlobalBuffer*> buffer_cache_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> taken_;
  std::vector<MemoryCounts> memory_counts_;
  std::vector<std::vector<SyncEvent>> syncs_;
  std::unordered_set<std::uint64_t> sectors_read_;
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_;
  bool failed_ = false;
};

/// Runs one warp until it blocks, exits, yields, or `budget` instructions are done. Returns how
/// many it executed.
std::uint64_t run_warp(Warp& warp, std::uint64_t budget);

/// Parks the running lanes at their instruction unless all of `needed` (alive lanes only) run it.
/// True when the instruction may execute.
bool converge(Warp& warp, std::uint32_t needed);

/// Orders the lanes of a warp: called by every .sync instruction that all of them execute.
inline void sync_lanes(Warp& warp) { warp.cta->races().advance(warp.index); }

/// Index of the instruction in the program.
inline int pc_of(const Warp& warp) { return static_cast<int>(warp.pc); }

}  // namespace evo::ptx
