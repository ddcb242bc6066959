#include "engine/device/virtual/execute/cta.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/device/virtual/execute/cluster.hpp"

namespace evo::ptx {
namespace {

/// The start of the register file in `storage`, which is aligned to a cache line here, because the
/// allocator does not guarantee this alignment.
std::byte* aligned(std::vector<std::byte>& storage) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  return storage.data() + ((64 - address % 64) % 64);
}

}  // namespace

std::uint64_t cta_bytes(const LaunchContext& launch) {
  const Program& program = *launch.program;
  const std::uint64_t threads =
      static_cast<std::uint64_t>(launch.block[0]) * launch.block[1] * launch.block[2];
  const std::uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const std::uint64_t registers =
      warps * program.register_bytes * 5 / 4;  // including the taint bytes
  const std::uint64_t local = warps * kWarpSize * program.local_bytes * 2;
  const std::uint64_t granules =
      launch.shared_bytes / static_cast<std::uint64_t>(program.shared_granule);
  const std::uint64_t shared = launch.shared_bytes + granules * sizeof(std::uint64_t) * (warps + 1);
  return registers + local + shared + program.code.size() * 2 * sizeof(std::uint64_t);
}

MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& other) {
  shared_wavefronts += other.shared_wavefronts;
  global_sectors += other.global_sectors;
  global_lines += other.global_lines;
  global_sectors_first += other.global_sectors_first;
  global_bytes_written += other.global_bytes_written;
  sleep_ns += other.sleep_ns;
  prints += other.prints;
  return *this;
}

Cta::Cta(LaunchContext& launch) : launch_(launch), scheduler_(launch), names_(launch) {
  const Program& program = *launch.program;
  thread_count_ = launch.block[0] * launch.block[1] * launch.block[2];
  const std::size_t warp_count = (thread_count_ + kWarpSize - 1) / kWarpSize;
  register_file_.resize(warp_count * program.register_bytes + 64);
  taint_file_.resize(warp_count * program.register_bytes / 4);
  local_stride_ = (program.local_bytes + std::size_t{15}) / 16 * 16;
  local_.resize(warp_count * kWarpSize * local_stride_);
  local_written_.resize(local_.size());
  shared_.resize(launch.shared_bytes + 16);
  const std::size_t counts_apart =
      launch.count_memory ? program.code.size() : 0;  // distance of two warps' counts
  counts_.resize(program.code.size() + (warp_count - 1) * counts_apart);
  if (launch.count_memory) {
    memory_counts_.resize(program.code.size());
    taken_.resize(counts_.size());
  }
  buffer_cache_.resize(program.code.size());
  fenced_.resize(warp_count);
  observed_.resize(warp_count);
  warps_.resize(warp_count);
  for (std::size_t w = 0; w < warp_count; ++w) {
    Warp& warp = warps_[w];
    warp.regs = aligned(register_file_) + w * program.register_bytes;
    warp.taint = taint_file_.data() + w * program.register_bytes / 4;
    warp.index = static_cast<int>(w);
    warp.cta = this;
    warp.code = program.code.data();
    warp.counts = counts_.data() + w * counts_apart;
    if (launch.count_memory) warp.taken = taken_.data() + w * counts_apart;
    for (const ConstantRegister& constant : program.constants) {
      std::byte* reg = warp.regs + constant.offset;
      if (constant.predicate) {
        const std::uint32_t mask = constant.bits != 0 ? kAllLanes : 0;
        std::memcpy(reg, &mask, sizeof(mask));
        continue;
      }
      for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        std::memset(reg + lane * constant.bytes, 0, constant.bytes);
        std::memcpy(reg + lane * constant.bytes, &constant.bits,
                    std::min<std::size_t>(constant.bytes, 8));
      }
    }
  }
}

std::byte* Cta::local(const Warp& warp, int lane) {
  return local_.data() +
         (static_cast<std::size_t>(warp.index) * kWarpSize + static_cast<std::size_t>(lane)) *
             local_stride_;
}

std::uint8_t* Cta::local_written(const Warp& warp, int lane) {
  return local_written_.data() +
         (static_cast<std::size_t>(warp.index) * kWarpSize + static_cast<std::size_t>(lane)) *
             local_stride_;
}

void Cta::start(std::array<std::uint32_t, 3> index, std::uint64_t linear_index) {
  index_ = index;
  number_ = linear_index;
  history_ = nullptr;
  counted_history_ = 0;
  plain_reads_.clear();
  scheduler_.start(linear_index);
  races_.reset(launch_.shared_bytes, program().shared_granule, static_cast<int>(warps_.size()));
  if (program().waits_for_grid) grid_wait_.reset(static_cast<int>(warps_.size()));
  std::ranges::fill(shared_, std::byte{0xcd});
  std::ranges::fill(local_written_, std::uint8_t{0});
  barriers_.reset();
  mbarriers_.clear();
  copy_times_ = {};
  used_copy_clocks_ = 0;
  sync_locations_.clear();
  std::ranges::fill(fenced_, VectorClock{});
  std::ranges::fill(observed_, VectorClock{});
  warpgroups_.assign((warps_.size() + kGroupWarps - 1) / kGroupWarps, Warpgroup());
  register_pool_.reset();
  failed_ = false;
  if (launch_.count_memory) records_.assign(warps_.size(), {});
  sectors_read_.clear();
  for (Warp& warp : warps_) reset_warp(warp);
}

CtaHistory& Cta::made_history() {
  if (history_ == nullptr) history_ = &launch_.global_races.history_of(number_);
  return *history_;
}

namespace {

/// The content of a register that no instruction has set. The content differs in four successive
/// launches, so that the results of a kernel that uses the register vary: negative, zero, positive
/// and −1 (as floats: negative, zero, tiny and NaN).
std::uint32_t unset_word(std::uint64_t launch) {
  static constexpr std::array<std::uint32_t, 4> kWords = {0xcdcdcdcd, 0, 1, 0xffffffff};
  return kWords[launch % kWords.size()];
}

}  // namespace

void Cta::reset_warp(Warp& warp) {
  const auto first = static_cast<std::uint32_t>(warp.index) * kWarpSize;
  const std::uint32_t lanes = std::min<std::uint32_t>(thread_count_ - first, kWarpSize);
  warp.alive = lanes == kWarpSize ? kAllLanes : (1U << lanes) - 1;
  warp.active = warp.alive;
  warp.pc = 0;
  warp.carry = 0;
  warp.waiting.clear();
  warp.park = false;
  warp.yield = false;
  warp.parks_in_a_row = 0;
  warp.fairness_hold = 0;
  warp.backward_branches = 0;
  warp.vain_waits = 0;
  warp.waited_at = 0;
  warp.state = WarpState::kReady;
  warp.barrier = -1;
  warp.executed = 0;
  warp.copies.clear();
  warp.tracked_copies.fill(0);
  warp.committed.fill(0);
  warp.stores.clear();
  warp.bulk_groups.fill(0);
  warp.products.clear();
  warp.product_groups = 0;
  warp.registers = launch_.registers_per_thread;
  if (warp.tainted) std::memset(warp.taint, 0, program().register_bytes / 4);
  warp.tainted = false;
  warp.has_foreign = false;
  warp.unknown = {};
  const Program& code = program();
  for (std::size_t i = 0; i < code.unset_registers.size(); ++i) {
    // Fills every register that may be read before it is written, and marks it as uninitialised.
    const std::size_t words =
        std::size_t{kWarpSize} * std::max(code.unset_bytes[i], 4U) / sizeof(std::uint32_t);
    const std::uint32_t word = unset_word(launch_.number);
    for (std::size_t at = 0; at < words; ++at) {
      std::memcpy(warp.regs + code.unset_registers[i] + at * sizeof word, &word, sizeof word);
    }
    if (!launch_.check) continue;
    warp.tainted = true;
    std::memset(warp.taint + code.unset_registers[i] / 4, 0xff, kWarpSize);
  }
  fill_specials(warp);
}

void Cta::fill_specials(Warp& warp) {
  const auto first = static_cast<std::uint32_t>(warp.index) * kWarpSize;
  const auto& block = launch_.block;
  const std::uint32_t first_warp =
      launch_.placement.first_warp_of(number_, static_cast<std::uint32_t>(warps_.size()));
  for (const auto& entry : program().specials) {
    const Special special = entry.first;
    auto* reg = warp.reg<std::uint32_t>(entry.second);
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const std::uint32_t thread = first + lane;
      const auto value = [&]() -> std::uint32_t {
        switch (special) {
          case Special::kTidX:
            return thread % block[0];
          case Special::kTidY:
            return thread / block[0] % block[1];
          case Special::kTidZ:
            return thread / (block[0] * block[1]);
          case Special::kNtidX:
            return block[0];
          case Special::kNtidY:
            return block[1];
          case Special::kNtidZ:
            return block[2];
          case Special::kCtaidX:
            return index_[0];
          case Special::kCtaidY:
            return index_[1];
          case Special::kCtaidZ:
            return index_[2];
          case Special::kNctaidX:
            return launch_.grid[0];
          case Special::kNctaidY:
            return launch_.grid[1];
          case Special::kNctaidZ:
            return launch_.grid[2];
          case Special::kLaneId:
            return lane;
          case Special::kWarpId:
            return first_warp + static_cast<std::uint32_t>(warp.index);
          case Special::kNWarpId:
            return launch_.placement.warps_per_sm();
          case Special::kLaneMaskEq:
            return 1U << lane;
          case Special::kLaneMaskLt:
            return (1U << lane) - 1;
          case Special::kLaneMaskLe:
            return ((1U << lane) - 1) | 1U << lane;
          case Special::kLaneMaskGt:
            return ~(((1U << lane) - 1) | 1U << lane);
          case Special::kLaneMaskGe:
            return ~((1U << lane) - 1);
          case Special::kSmId:
            return launch_.placement.sm_of(number_);
          case Special::kNSmId:
            return static_cast<std::uint32_t>(launch_.sm_count);
          case Special::kGridId:
            return launch_.placement.grid();
          case Special::kDynamicSharedSize:
            return launch_.dynamic_shared_bytes;
          case Special::kTotalSharedSize:
            return program().dynamic_shared_offset + launch_.dynamic_shared_bytes;
          case Special::kReservedSharedBegin:
          case Special::kReservedShared0:
            return launch_.reserved_shared_offset;
          case Special::kReservedShared1:
            return launch_.reserved_shared_offset + kReservedSharedBytes / 2;
          case Special::kReservedSharedCap:
          case Special::kReservedSharedEnd:
            return launch_.reserved_shared_offset + kReservedSharedBytes;
          case Special::kEnvReg1:
            return static_cast<std::uint32_t>(launch_.grid_workspace >> 32);
          case Special::kEnvReg2:
            return static_cast<std::uint32_t>(launch_.grid_workspace);
          default:
            return cluster_special(launch_, index_, special);
        }
      };
      reg[lane] = value();
    }
  }
}

CtaState Cta::run(std::uint64_t budget) {
  std::uint64_t done = 0;
  scheduler_.go_on();
  while (done < budget) {
    if (launch_.stop.load(std::memory_order_relaxed)) return CtaState::kFailed;
    Warp* const warp = scheduler_.pick(warps_);
    if (warp == nullptr) {
      const bool all_done = std::ranges::all_of(
          warps_, [](const Warp& one) { return one.state == WarpState::kDone; });
      if (all_done) {
        check_leftovers();
        if (cluster_ != nullptr) cluster_->end(*this);
        launch_.progress.note_change();
        return CtaState::kDone;
      }
      if (cluster_ != nullptr && !cluster_->is_stuck()) {
        scheduler_.note_blocked();
        return CtaState::kRunning;
      }
      report_deadlock();
      return CtaState::kFailed;
    }
    const std::uint64_t executed = run_warp(*warp, scheduler_.quantum());
    done += executed;
    const bool goes_on = scheduler_.count(executed) && counts_history();
    if (failed_) return CtaState::kFailed;
    if (!goes_on || waits_in_vain()) {
      report_livelock(*warp);
      return CtaState::kFailed;
    }
    // While times are predicted, a polling CTA does not pause, because the pause would change the
    // number of polls and thereby the time.
    if (scheduler_.only_polls() && !launch_.count_memory) break;
    if (scheduler_.stands_aside()) break;
  }
  return CtaState::kRunning;
}

void Cta::clear_counts() {
  std::ranges::fill(counts_, 0);
  std::ranges::fill(taken_, 0);
  std::ranges::fill(memory_counts_, MemoryCounts{});
  atomics_.clear();
}

void Cta::note_sync(const Warp& warp, std::uint32_t barrier, std::int64_t arrives,
                    std::int64_t awaits) {
  constexpr std::size_t kMost = 1 << 16;
  if (!launch_.count_memory) return;
  std::vector<SyncEvent>& events = records_[static_cast<std::size_t>(warp.index)].syncs;
  const auto line = static_cast<std::uint32_t>(program().info[warp.pc].line);
  if (!events.empty()) {
    SyncEvent& last = events.back();
    const bool is_same = last.line == line && last.barrier == barrier && last.arrives == arrives &&
                         last.awaits == awaits;
    if (is_same && awaits < 0) {  // another lane of the same instruction
      ++last.count;
      return;
    }
  }
  if (events.size() < kMost) events.push_back({line, barrier, 1, arrives, awaits});
}

void Cta::note_taken(const Warp& warp) {
  records_[static_cast<std::size_t>(warp.index)].branches[warp.pc].note_taken(warp.counts[warp.pc] -
                                                                              1);
}

void Cta::on_exit(Warp& warp) {
  if (launch_.count_memory) {
    for (auto& [pc, branch] : records_[static_cast<std::size_t>(warp.index)].branches)
      branch.end(warp.counts[pc]);
  }
  scheduler_.note_progress();
  if (!warp.copies.empty() && launch_.check) {
    const AsyncCopy& copy = warp.copies.front();
    report(
        HazardKind::kPendingWork, static_cast<int>(copy.pc), -1,
        "the cp.async of " + names_.thread(warp.index, std::countr_zero(copy.mask)) + " to " +
            names_.shared(copy.destination[static_cast<std::size_t>(std::countr_zero(copy.mask))]) +
            " was never waited for");
  }
  if (!warp.products.empty() && launch_.check) {
    report(HazardKind::kPendingWork, static_cast<int>(warp.products.front().pc), -1,
           "the wgmma of warp " + std::to_string(warp.index) + " was never waited for");
  }
  leave_stores(warp);
  barriers_.release_complete();
  if (cluster_ != nullptr) cluster_->release_if_complete();
}

void Cta::retry_later(Warp& warp, const Instr& in) {
  warp.state = WarpState::kBlocked;
  warp.blocked_at = &in;
  warp.next_pc = warp.pc;
  --warp.counts[warp.pc];
}

void Cta::wake_retrying() {
  for (Warp& warp : warps_) {
    if (warp.state == WarpState::kBlocked && warp.barrier < 0) warp.state = WarpState::kReady;
  }
}

VectorClock& Cta::sync_location(std::uint64_t address) { return sync_locations_[address]; }

const VectorClock* Cta::find_sync_location(std::uint64_t address) const {
  const auto found = sync_locations_.find(address);
  return found == sync_locations_.end() ? nullptr : &found->second;
}

}  // namespace evo::ptx
