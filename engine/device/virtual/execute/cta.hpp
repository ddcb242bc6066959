#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/race_checker.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/print_log.hpp"
#include "engine/device/virtual/execute/warp.hpp"
#include "engine/device/virtual/execute/warpgroup.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/device/virtual/memory/texture_table.hpp"

namespace evo::ptx {

/// What all CTAs of a launch share.
struct LaunchContext {
  const Program* program = nullptr;
  GlobalMemory* memory = nullptr;
  HazardLog* hazards = nullptr;
  PrintLog* printed = nullptr;
  const TextureTable* textures = nullptr;
  MmaNumerics numerics = {};
  std::vector<std::byte> parameters;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t shared_bytes = 0;          ///< static + dynamic
  std::uint32_t registers_per_thread = 0;  ///< at launch; 0: not known
  int sm_count = 1;
  std::uint64_t grid_workspace = 0;  ///< address, of cooperative launches
  bool check = true;                 ///< races and uninitialised data
  bool count_memory = false;         ///< bank conflicts and sectors, for the predicted time
  std::uint64_t seed = 1;
  std::uint64_t number = 0;                ///< of the launch on its device
  std::uint64_t stall_budget = 0;          ///< warp instructions without progress before livelock
  std::uint64_t issue_budget = 0;          ///< warp instructions of one CTA at most
  std::atomic<bool> stop{false};           ///< a fatal hazard ended the launch
  std::atomic<std::uint64_t> progress{0};  ///< counts changes other CTAs could wait for
};

/// Dynamic memory counts of one CTA.
struct MemoryCounts {
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t shared_accesses = 0;
  std::uint64_t global_sectors = 0;  ///< 32-byte sectors asked of L1 / L2
  std::uint64_t global_accesses = 0;
  std::uint64_t global_bytes_written = 0;
};

struct NamedBarrier {
  std::uint32_t expected = 0;  ///< threads; 0: the whole CTA
  std::uint32_t arrived = 0;   ///< threads
  std::uint32_t warps_in = 0;  ///< warps that arrived in this phase
  bool in_use = false;
  VectorClock clock{};
  std::vector<int> blocked;  ///< warps
  int first_pc = -1;         ///< of the first arrival, for messages
  std::uint32_t reduced_count = 0;
  bool reduced_and = true;
  bool reduced_or = false;
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

/// Release clocks of a flag in memory, for fences and atomics.
struct SyncLocation {
  VectorClock clock{};
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
  /// Runs about `budget` warp instructions.
  CtaState run(std::uint64_t budget);

  [[nodiscard]] LaunchContext& launch() const { return launch_; }
  [[nodiscard]] const Program& program() const { return *launch_.program; }
  [[nodiscard]] const std::array<std::uint32_t, 3>& index() const { return index_; }
  [[nodiscard]] std::vector<Warp>& warps() { return warps_; }
  [[nodiscard]] RaceChecker& races() { return races_; }
  [[nodiscard]] std::byte* shared() { return shared_.data(); }
  [[nodiscard]] std::uint32_t shared_bytes() const { return launch_.shared_bytes; }
  [[nodiscard]] std::byte* local(const Warp& warp, int lane);
  [[nodiscard]] std::uint8_t* local_written(const Warp& warp, int lane);
  [[nodiscard]] std::uint32_t thread_count() const { return thread_count_; }
  [[nodiscard]] std::array<NamedBarrier, 16>& barriers() { return barriers_; }
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
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] MemoryCounts& memory_counts() { return memory_counts_; }
  [[nodiscard]] std::vector<GlobalBuffer*>& buffer_cache() { return buffer_cache_; }

  /// Adds a hazard that lets the kernel go on.
  void report(HazardKind kind, int instruction, int other, std::string what);
  /// Adds a hazard after which nothing sensible can run, and ends the launch.
  void fail(HazardKind kind, int instruction, int other, std::string what);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool is_reported(HazardKind kind, int instruction, int other) const;

  /// Called when something happened that another warp or CTA could be waiting for.
  void note_progress() { progressed_ = true; }
  void finish_barrier_if_complete(int id);
  void release_barrier(int id);
  void on_exit(Warp& warp);
  /// The warp executes its instruction again once wake_retrying() was called.
  void retry_later(Warp& warp, const Instr& in);
  void wake_retrying();

  /// "thread (3,0,0) of warp 1".
  [[nodiscard]] std::string name_thread(int warp, int lane) const;
  /// "byte 12 of shared 'tile'".
  [[nodiscard]] std::string name_shared(std::uint64_t address) const;

 private:
  void fill_specials(Warp& warp);
  void reset_warp(Warp& warp);
  [[nodiscard]] int pick_warp();
  void report_deadlock();
  void check_leftovers();
  void check_warpgroups();
  bool stalled(std::uint64_t executed);
  std::string describe_wait(const Warp& warp) const;

  LaunchContext& launch_;
  std::uint32_t thread_count_ = 0;
  std::array<std::uint32_t, 3> index_{};
  std::vector<std::byte> register_file_;
  std::vector<std::uint8_t> taint_file_;
  std::vector<Warp> warps_;
  std::vector<std::byte> shared_;
  std::size_t local_stride_ = 0;  ///< of threads: their memory is aligned as their addresses are
  std::vector<std::byte> local_;
  std::vector<std::uint8_t> local_written_;
  RaceChecker races_;
  std::array<NamedBarrier, 16> barriers_{};
  std::unordered_map<std::uint32_t, MBarrier> mbarriers_;
  std::unordered_map<std::uint64_t, VectorClock> sync_locations_;
  std::vector<VectorClock> fenced_;
  std::vector<VectorClock> observed_;
  std::vector<Warpgroup> warpgroups_;
  RegisterPool register_pool_;
  std::vector<GlobalBuffer*> buffer_cache_;
  std::vector<std::uint64_t> counts_;
  MemoryCounts memory_counts_;
  Random random_;
  std::vector<int> ready_;
  std::uint64_t executed_ = 0;
  std::uint64_t stall_ = 0;
  std::uint64_t seen_progress_ = 0;
  bool progressed_ = false;
  bool failed_ = false;
};

/// Runs one warp until it blocks, exits, yields, or `budget` instructions are done. Returns how
/// many it executed.
std::uint64_t run_warp(Warp& warp, std::uint64_t budget);

/// Parks the running lanes at their instruction unless all of `needed` (alive lanes only) run it.
/// True when the instruction may execute.
bool converge(Warp& warp, std::uint32_t needed);

/// Orders the lanes of a warp: called by every .sync instruction.
inline void sync_lanes(Warp& warp) { warp.cta->races().advance(warp.index); }

/// Index of the instruction in the program.
inline int pc_of(const Warp& warp) { return static_cast<int>(warp.pc); }

}  // namespace evo::ptx
