#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/device/virtual/checks/grid_wait.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/place_names.hpp"
#include "engine/device/virtual/checks/race_checker.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/bulk_copies.hpp"
#include "engine/device/virtual/execute/launch_context.hpp"
#include "engine/device/virtual/execute/named_barriers.hpp"
#include "engine/device/virtual/execute/warp.hpp"
#include "engine/device/virtual/execute/warp_scheduler.hpp"
#include "engine/device/virtual/execute/warpgroup.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/predict/warp_record.hpp"

namespace evo::ptx {

/// Counts of the memory requests of one instruction, summed over the warps of a CTA.
struct MemoryCounts {
  std::uint64_t shared_wavefronts = 0;
  /// 32-byte sectors that the requests touch, counted once for each request of a warp
  std::uint64_t global_sectors = 0;
  std::uint64_t global_lines = 0;          ///< 128-byte lines; each takes one pass of L1
  std::uint64_t global_sectors_first = 0;  ///< sectors that the CTA reads for the first time
  std::uint64_t global_bytes_written = 0;
  std::uint64_t sleep_ns = 0;  ///< time of nanosleep, which is the maximum over a warp's lanes
  std::uint64_t prints = 0;    ///< calls of printf, counted per lane

  MemoryCounts& operator+=(const MemoryCounts& other);
};

/// The state of an mbarrier object; the object's 8 bytes in shared memory hold only a pattern that
/// contains their address.
struct MBarrier {
  std::uint32_t count = 0;  ///< arrivals needed for a phase
  std::uint32_t pending = 0;
  std::int64_t transactions = 0;
  std::uint64_t phase = 0;            ///< number of completed phases
  std::vector<BulkLoad> copies = {};  ///< bulk copies in flight
  int copy_clock = -1;                ///< entry of VectorClock for its copies; −1: no copy yet
  VectorClock arriving{};
  VectorClock completed{};
  /// True if other CTAs signal the mbarrier. The time model then does not know when its phases
  /// complete.
  bool is_foreign = false;
  std::uint32_t released = 0;  ///< number of releases by other CTAs in the completed phases
};

class Cluster;

enum class CtaState : std::uint8_t { kRunning, kDone, kFailed };

/// Approximate bytes of host memory that one CTA of the launch needs.
[[nodiscard]] std::uint64_t cta_bytes(const LaunchContext& launch);

/// A CTA that executes on a host thread: its warps, shared memory and barriers. After a CTA has
/// ended, its Cta object is used for another CTA.
class Cta {
 public:
  explicit Cta(LaunchContext& launch);
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;

  /// Must be called before start() for a CTA of a cluster. `cluster`: null for a CTA without
  /// cluster.
  void join_cluster(Cluster* cluster, std::uint32_t rank) {
    cluster_ = cluster;
    cluster_rank_ = rank;
  }
  [[nodiscard]] Cluster* cluster() const { return cluster_; }
  [[nodiscard]] std::uint32_t cluster_rank() const { return cluster_rank_; }
  void start(std::array<std::uint32_t, 3> index, std::uint64_t linear_index);
  /// Runs about `budget` warp instructions, or fewer if the CTA waits for another CTA or pauses.
  CtaState run(std::uint64_t budget);

  [[nodiscard]] LaunchContext& launch() const { return launch_; }
  [[nodiscard]] const Program& program() const { return *launch_.program; }
  [[nodiscard]] const std::array<std::uint32_t, 3>& index() const { return index_; }
  /// The linear index of the CTA in the grid, x fastest.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// How the CTA has synchronised with other CTAs; null before the first call of made_history(),
  /// which makes the history.
  [[nodiscard]] CtaHistory* history() const { return history_; }
  CtaHistory& made_history();
  /// The CTA's weak reads of memory that kernels may write. A weak read is removed if an atomic of
  /// the CTA accesses the same location.
  [[nodiscard]] GlobalRaces::PlainReads& plain_reads() { return plain_reads_; }
  [[nodiscard]] std::vector<Warp>& warps() { return warps_; }
  [[nodiscard]] RaceChecker& races() { return races_; }
  [[nodiscard]] GridWait& grid_wait() { return grid_wait_; }
  [[nodiscard]] std::byte* shared() { return shared_.data(); }
  [[nodiscard]] std::uint32_t shared_bytes() const { return launch_.shared_bytes; }
  [[nodiscard]] std::byte* local(const Warp& warp, int lane);
  [[nodiscard]] std::uint8_t* local_written(const Warp& warp, int lane);
  [[nodiscard]] NamedBarriers& barriers() { return barriers_; }
  [[nodiscard]] WarpScheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const PlaceNames& names() const { return names_; }
  [[nodiscard]] std::unordered_map<std::uint32_t, MBarrier>& mbarriers() { return mbarriers_; }
  /// Assigns an entry of VectorClock to the bulk copies on an mbarrier, and returns its index.
  [[nodiscard]] int new_copy_clock() { return kMaxWarps + used_copy_clocks_++ % kCopyClocks; }
  [[nodiscard]] std::uint32_t next_copy_time(int clock) {
    return ++copy_times_[static_cast<std::size_t>(clock - kMaxWarps)];
  }
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
  /// The number of executions of each instruction, summed over all warps. If the launch counts
  /// memory requests, the list has the numbers of the first warp, one for each instruction, then
  /// the numbers of the second warp, and so on.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
  /// The number of times that each branch was taken, in the same order as the numbers per warp of
  /// counts(); empty unless the launch counts memory requests.
  [[nodiscard]] const std::vector<std::uint64_t>& taken() const { return taken_; }
  /// The memory requests of each instruction; empty unless the launch counts memory requests.
  [[nodiscard]] std::vector<MemoryCounts>& memory_counts() { return memory_counts_; }
  /// Sets all counts of the CTA to 0.
  void clear_counts();
  /// The number of atomic operations on each address of global memory; empty unless the launch
  /// counts memory requests.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::uint64_t>& atomics() { return atomics_; }
  /// The sectors of global memory that the CTA has read; empty unless the launch counts memory
  /// requests.
  [[nodiscard]] std::unordered_set<std::uint64_t>& sectors_read() { return sectors_read_; }
  /// The record of each warp, if the launch counts memory requests.
  [[nodiscard]] const std::vector<WarpRecord>& records() const { return records_; }
  void note_sync(const Warp& warp, std::uint32_t barrier, std::int64_t arrives,
                 std::int64_t awaits);
  /// Records that the warp takes the branch at its current instruction.
  void note_taken(const Warp& warp);
  [[nodiscard]] std::vector<GlobalBuffer*>& buffer_cache() { return buffer_cache_; }

  /// Reports a hazard after which the kernel continues.
  void report(HazardKind kind, int instruction, int other, std::string what);
  /// Reports a hazard after which the kernel cannot continue, and ends the launch.
  void fail(HazardKind kind, int instruction, int other, std::string what);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool is_reported(HazardKind kind, int instruction, int other) const;

  /// True if no warp can run.
  [[nodiscard]] bool is_blocked() const {
    return std::ranges::none_of(warps_,
                                [](const Warp& warp) { return warp.state == WarpState::kReady; });
  }
  /// True if each warp is blocked, has exited, or has polled an mbarrier in vain many times in
  /// succession.
  [[nodiscard]] bool only_waits() const;
  void on_exit(Warp& warp);
  /// Blocks the warp; it executes its instruction again after wake_retrying() is called.
  void retry_later(Warp& warp, const Instr& in);
  void wake_retrying();

 private:
  void fill_specials(Warp& warp);
  void reset_warp(Warp& warp);
  void report_deadlock();
  void report_livelock(const Warp& warp);
  void check_leftovers();
  void check_warpgroups();
  void check_copies();
  /// Describes the mbarriers that wait for more or fewer bytes than the bulk copies bring; empty if
  /// there are none.
  std::string describe_lacking_bytes() const;
  /// True if only_waits() is true for the CTA and for the other CTAs of its cluster.
  bool all_wait() const;
  /// Counts what history() recorded since the last call. Returns false if the CTAs of the launch
  /// recorded too much: the kernel probably loops without end.
  bool counts_history();
  /// True if the CTA has made no progress for many instructions, and all_wait().
  bool waits_in_vain() const;
  std::string describe_wait(const Warp& warp) const;
  /// Describes the mbarrier for which a warp has waited in vain.
  std::string describe_awaited(const Warp& warp) const;

  LaunchContext& launch_;
  Cluster* cluster_ = nullptr;
  std::uint32_t cluster_rank_ = 0;
  std::uint32_t thread_count_ = 0;
  std::array<std::uint32_t, 3> index_{};
  std::uint64_t number_ = 0;
  CtaHistory* history_ = nullptr;
  std::uint64_t counted_history_ = 0;  ///< number of entries that counts_history() has counted
  GlobalRaces::PlainReads plain_reads_;
  std::vector<std::byte> register_file_;
  std::vector<std::uint8_t> taint_file_;
  std::vector<Warp> warps_;
  std::vector<std::byte> shared_;
  /// bytes between the local memories of two threads
  std::size_t local_stride_ = 0;
  std::vector<std::byte> local_;
  std::vector<std::uint8_t> local_written_;
  RaceChecker races_;
  GridWait grid_wait_;
  NamedBarriers barriers_{warps_, races_};
  WarpScheduler scheduler_;
  PlaceNames names_;
  std::unordered_map<std::uint32_t, MBarrier> mbarriers_;
  std::array<std::uint32_t, kCopyClocks> copy_times_{};
  int used_copy_clocks_ = 0;
  std::unordered_map<std::uint64_t, VectorClock> sync_locations_;  ///< clocks released at addresses
  std::vector<VectorClock> fenced_;
  std::vector<VectorClock> observed_;
  std::vector<Warpgroup> warpgroups_;
  RegisterPool register_pool_;
  std::vector<GlobalBuffer*> buffer_cache_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> taken_;
  std::vector<MemoryCounts> memory_counts_;
  std::vector<WarpRecord> records_;
  std::unordered_set<std::uint64_t> sectors_read_;
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_;
  bool failed_ = false;
};

/// Runs a warp until it blocks, exits, yields, or has executed `budget` instructions. Returns the
/// number of executed instructions.
std::uint64_t run_warp(Warp& warp, std::uint64_t budget);

/// Makes the running lanes wait at their instruction unless all lanes of `needed` that have not
/// exited are at this instruction. True if the running lanes may execute the instruction now.
bool converge(Warp& warp, std::uint32_t needed);

/// Orders previous accesses of all lanes of a warp before later accesses of all its lanes. The
/// handlers of instructions that all lanes must execute together, such as mma.sync, call this
/// function.
inline void sync_lanes(Warp& warp) { warp.cta->races().clocks().meet(warp.index); }

/// Index of the warp's current instruction in the program.
inline int pc_of(const Warp& warp) { return static_cast<int>(warp.pc); }

}  // namespace evo::ptx
