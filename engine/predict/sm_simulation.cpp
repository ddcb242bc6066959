#include "engine/predict/sm_simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/operation.hpp"
#include "engine/predict/warp_path.hpp"

namespace evo {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kScoreboards = 6;
constexpr std::uint64_t kMostIssued = 250'000;
constexpr double kSectorBytes = 32;
constexpr double kMostlyWarm = 0.2;  ///< share of DRAM up to which a load waits for L2

/// What the simulation needs of an instruction, worked out once.
struct Step {
  Unit unit = Unit::kNone;
  std::uint32_t line = 0;
  double occupies = 1;  ///< its unit, clocks
  double passes = 0;    ///< of the SM's memory unit
  double sectors = 0;   ///< asked of L2
  double dram = 0;      ///< of these, what comes from (or goes to) DRAM
  double latency = 0;   ///< until its result is there
  int stall = 1;
  unsigned write_barrier = 7;
  unsigned read_barrier = 7;
  unsigned waits = 0;
  unsigned pending = 0;  ///< of a wait for asynchronous work: groups that may be under way
  bool commits = false;
  bool never = false;
};

struct Barrier {
  std::map<std::int64_t, std::uint32_t> arrived;
  std::map<std::int64_t, double> complete;  ///< phase → when
};

struct Cta {
  std::vector<std::size_t> warps;
  std::size_t alive = 0;
  std::unordered_map<std::uint32_t, Barrier> barriers;
};

struct SimWarp {
  SimWarp(const CodeGraph& graph, const WarpPlan& plan, std::vector<float>& before)
      : cursor(graph, plan, before) {}
  WarpCursor cursor;
  std::size_t cta = 0;
  std::size_t number = 0;  ///< in its CTA
  double ready = 0;        ///< by stalls and scoreboards
  std::array<double, kScoreboards> scoreboard{};
  double async_landed = 0;           ///< when all its copies so far have
  std::vector<double> async_groups;  ///< when each landed
  double gmma_done = 0;
  std::vector<double> gmma_groups;
  std::size_t sync = 0;  ///< next of its events
  bool blocked = false;
  std::int64_t awaits = -1;
  std::uint32_t awaited = 0;
  double order = 0;  ///< older ones first
};

class Simulation {
 public:
  Simulation(const MachineRates& rates, const LaunchProfile& profile, int resident)
      : rates_(rates),
        profile_(profile),
        code_(read_machine_code(profile.cubin, profile.entry)),
        graph_(code_, rates.is_sm90) {
    plans_ = plans_of_warps(code_, graph_, profile);
    before_.resize(plans_.size());
    find_dram_share();
    make_steps();
    count_arrivals();
    const auto ctas = static_cast<double>(profile.ctas);
    to_run_ = static_cast<std::size_t>(std::ceil(ctas / rates.sms));
    resident_ = static_cast<std::size_t>(std::max(resident, 1));
    fetched_.assign(code_.size() / 8 + 1, -1);
    for (const WarpPlan& plan : plans_) instructions_of_cta_ += plan.instructions;
  }

  SmTime run() {
    if (!knows_lines() || is_lost()) return time_;
    for (std::size_t i = 0; i < std::min(resident_, to_run_); ++i) start_cta(0);
    while (alive_ > 0) {
      if (!issue_one()) break;
      if (time_.issued >= kMostIssued) break;
    }
    time_.clocks = now_;
    const double all = instructions_of_cta_ * static_cast<double>(to_run_);
    if (alive_ > 0 && time_.issued > 0) {
      // The second half is steady.
      const double rate = (now_ - half_clock_) / static_cast<double>(time_.issued - half_issued_);
      time_.clocks += std::max(all - static_cast<double>(time_.issued), 0.0) * rate;
    }
    return time_;
  }

 private:
  const LineActivity* activity(std::uint32_t line) const {
    const auto found = profile_.lines.find(line);
    return found == profile_.lines.end() ? nullptr : &found->second;
  }

  /// A way much longer than what the PTX executed: the counts do not fit the machine code.
  bool is_lost() const {
    constexpr double kLonger = 8;
    constexpr double kShort = 1000;
    double executed = 0;
    for (const auto& [line, activity] : profile_.lines) executed += activity.all_executions();
    return instructions_of_cta_ > kLonger * executed + kShort * static_cast<double>(plans_.size());
  }

  bool knows_lines() const {
    return std::ranges::any_of(
        code_, [](const MachineInstruction& instruction) { return instruction.ptx_line != 0; });
  }

  /// Buffers beyond the L2 cache come from DRAM once; what is asked for again is in the cache.
  void find_dram_share() {
    if (profile_.footprint_bytes <= rates_.l2_capacity) return;
    double bytes = 0;
    for (const auto& [line, activity] : profile_.lines) {
      const double read = std::min(activity.global_sectors_first, activity.global_sectors);
      bytes += (activity.global_bytes_written > 0 ? activity.global_sectors : read) * kSectorBytes;
    }
    bytes *= static_cast<double>(profile_.ctas);
    dram_share_ = bytes > 0 ? std::min(profile_.footprint_bytes / bytes, 1.0) : 0;
  }

  void make_steps() {
    for (const MachineInstruction& in : code_) {
      Step step;
      step.unit = unit_of(in);
      step.line = in.ptx_line;
      step.stall = std::max(in.stall(), 1);
      step.write_barrier = in.write_barrier();
      step.read_barrier = in.read_barrier();
      step.waits = in.waits();
      step.never = in.is_never();
      const LineActivity* line = activity(in.ptx_line);
      const double executions = line == nullptr ? 0 : line->all_executions();
      const auto each = [&](double all) { return executions > 0 ? all / executions : 0; };
      switch (step.unit) {
        case Unit::kAlu:
          step.occupies = rates_.alu;
          break;
        case Unit::kFma:
          step.occupies = rates_.fma;
          break;
        case Unit::kFmaHeavy:
          step.occupies = rates_.fma_heavy;
          break;
        case Unit::kHalf:
          step.occupies = rates_.half;
          break;
        case Unit::kPack:
          step.occupies = rates_.pack;
          break;
        case Unit::kUniform:
          step.occupies = rates_.uniform;
          step.latency = 12;
          break;
        case Unit::kFp64:
          step.occupies = rates_.fp64;
          step.latency = rates_.fp64_latency;
          break;
        case Unit::kTransform:
          step.occupies = rates_.transform;
          step.latency = rates_.transform_latency;
          break;
        case Unit::kTensor:
          step.occupies = tensor_flops(in) / rates_.tensor_flops;
          step.latency = 33;
          break;
        case Unit::kGmma:
          step.occupies = std::max(each(line == nullptr ? 0 : line->flops), 1.0) /
                          (rates_.gmma_flops * (in.operation() == 0x1f3 ? 2 : 1));
          step.latency = rates_.gmma_latency;
          step.passes = each(line == nullptr ? 0 : line->shared_wavefronts);
          step.commits = commits_gmma(in);
          break;
        case Unit::kShared: {
          const bool is_matrix = in.operation() == 0x03b || in.operation() == 0x044;
          step.passes = std::max(each(line == nullptr ? 0 : line->shared_wavefronts), 1.0) *
                        rates_.shared_pass;
          step.latency = is_matrix ? rates_.matrix_latency : rates_.shared_latency;
          break;
        }
        case Unit::kShuffle:
          step.passes = rates_.shuffle_pass;
          step.latency = rates_.shuffle_latency;
          break;
        case Unit::kGlobalLoad:
        case Unit::kGlobalStore:
        case Unit::kAtomic:
        case Unit::kLocal:
          step.sectors = std::max(each(line == nullptr ? 0 : line->global_sectors), 1.0);
          step.passes = std::max(1.0, step.sectors / 4);
          if (step.unit == Unit::kGlobalLoad && line != nullptr && line->global_sectors > 0)
            step.sectors *= line->global_sectors_first / line->global_sectors;
          step.dram = step.sectors * dram_share_;
          step.latency = step.unit == Unit::kAtomic   ? rates_.atomic_latency
                         : step.unit == Unit::kLocal  ? rates_.l1_latency
                         : step.sectors < step.passes ? rates_.l1_latency
                         : dram_share_ > kMostlyWarm  ? rates_.dram_latency
                                                      : rates_.l2_latency;
          if (step.unit == Unit::kLocal) step.sectors = 0;
          break;
        case Unit::kAsyncCopy:
          step.sectors = std::max(each(line == nullptr ? 0 : line->global_sectors), 1.0);
          step.passes = std::max(
              1.0, each(line == nullptr ? 0 : line->shared_wavefronts) * rates_.async_pass);
          step.latency = dram_share_ > kMostlyWarm ? rates_.dram_latency : rates_.l2_latency;
          step.dram = step.sectors * dram_share_;
          break;
        case Unit::kConstant:
          step.latency = rates_.constant_latency;
          break;
        case Unit::kSpecial:
          step.latency = rates_.special_latency;
          break;
        case Unit::kFence:
          step.latency = rates_.fence_latency;
          break;
        case Unit::kGmmaWait:
        case Unit::kAsyncWait:
          step.pending = static_cast<unsigned>(in.low >> 38 & 0x3fU);
          break;
        default:
          break;
      }
      steps_.push_back(step);
    }
  }

  /// What completes a phase of a barrier, from the events of all warps.
  void count_arrivals() {
    for (const auto& warp : profile_.syncs) {
      for (const SyncEvent& event : warp) {
        if (event.arrives >= 0) needed_[{event.barrier, event.arrives}] += event.count;
      }
    }
  }

  void start_cta(double at) {
    if (started_ == to_run_) return;
    const double start = std::max(at + (at > 0 ? rates_.cta_clocks : 0), next_cta_);
    next_cta_ = start + rates_.cta_interval;
    const std::size_t number = ctas_.size();
    ctas_.emplace_back();
    Cta& cta = ctas_.back();
    for (int w = 0; w < profile_.warps_per_cta; ++w) {
      SimWarp warp(graph_, plans_[static_cast<std::size_t>(w)],
                   before_[static_cast<std::size_t>(w)]);
      warp.cta = number;
      warp.number = static_cast<std::size_t>(w);
      warp.ready = start;
      warp.order = static_cast<double>(warps_.size());
      cta.warps.push_back(warps_.size());
      sub_cores_[(started_ * static_cast<std::size_t>(profile_.warps_per_cta) +
                  static_cast<std::size_t>(w)) %
                 4]
          .warps.push_back(warps_.size());
      warps_.push_back(std::move(warp));
      ++cta.alive;
      ++alive_;
    }
    ++started_;
  }

  struct SubCore {
    std::vector<std::size_t> warps;
    std::array<double, static_cast<std::size_t>(Unit::kCount)> free{};
    double next = 0;        ///< issue slot
    std::size_t last = 0;   ///< warp that issued last
    double candidate = -1;  ///< when it can issue; -1: to be worked out
    std::size_t chosen = 0;
  };

  /// When the warp can issue its instruction.
  double earliest(const SubCore& core, const SimWarp& warp) const {
    if (warp.blocked) return kNever;
    const Step& step = steps_[warp.cursor.instruction()];
    double at = std::max(warp.ready, core.next);
    unsigned waits = step.waits;
    while (waits != 0) {
      const int bit = __builtin_ctz(waits);
      waits &= waits - 1;
      at = std::max(at, warp.scoreboard[static_cast<std::size_t>(bit)]);
    }
    at = std::max(at, core.free[static_cast<std::size_t>(step.unit)]);
    if (step.passes > 0) at = std::max(at, memory_free_ - rates_.queue);
    if (step.unit == Unit::kAsyncWait) {
      const auto& groups = warp.async_groups;
      if (groups.size() > step.pending) at = std::max(at, groups[groups.size() - 1 - step.pending]);
    }
    if (step.unit == Unit::kGmmaWait) {
      const auto& groups = warp.gmma_groups;
      if (groups.size() > step.pending) at = std::max(at, groups[groups.size() - 1 - step.pending]);
    }
    return at;
  }

  void choose(SubCore& core) const {
    core.candidate = kNever;
    for (const std::size_t w : core.warps) {
      const double at = earliest(core, warps_[w]);
      // The warp that issued last goes on; then the oldest.
      if (at < core.candidate || (at == core.candidate && w == core.last)) {
        core.candidate = at;
        core.chosen = w;
      }
    }
  }

  bool issue_one() {
    while (true) {
      SubCore* best = nullptr;
      for (SubCore& core : sub_cores_) {
        if (core.candidate < 0) choose(core);
        if (best == nullptr || core.candidate < best->candidate) best = &core;
      }
      if (best->candidate == kNever) {
        if (!release_any()) return false;
        continue;
      }
      const double before = best->candidate;
      choose(*best);  // the SM's memory unit may have become busier
      if (best->candidate > before) continue;
      issue(*best, warps_[best->chosen], best->chosen, best->candidate);
      return true;
    }
  }

  /// The paths do not fit: whoever waits at a barrier goes on.
  bool release_any() {
    bool any = false;
    for (SimWarp& warp : warps_) {
      if (!warp.blocked) continue;
      warp.blocked = false;
      warp.ready = std::max(warp.ready, now_);
      any = true;
    }
    for (SubCore& core : sub_cores_) core.candidate = -1;
    return any;
  }

  void issue(SubCore& core, SimWarp& warp, std::size_t number, double at) {
    const std::size_t index = warp.cursor.instruction();
    const Step& step = steps_[index];
    // Code that is not in the instruction cache yet.
    double& fetched = fetched_[index / 8];
    if (fetched < 0) {
      fetch_free_ = std::max(fetch_free_, at) + rates_.fetch_clocks;
      fetched = fetch_free_;
    }
    if (fetched > at) {
      warp.ready = fetched;
      core.candidate = -1;
      return;
    }
    now_ = std::max(now_, at);
    ++time_.issued;
    if (time_.issued == kMostIssued / 2) {
      half_clock_ = now_;
      half_issued_ = time_.issued;
    }
    core.next = at + 1;
    core.last = number;
    core.candidate = -1;
    const auto unit = static_cast<std::size_t>(step.unit);
    double done = at + step.latency;
    double read = at + rates_.operand_latency;
    if (step.passes == 0) {
      core.free[unit] = at + step.occupies;
      done = at + step.occupies - 1 + step.latency;
    } else if (step.unit == Unit::kGmma) {
      done = start_gmma(core, step, at);
    } else if (!step.never) {
      const double start = std::max(at + 2, memory_free_);
      memory_free_ = start + step.passes;
      core.free[unit] = at + 2;
      done = start + step.passes - 1 + step.latency;
      read = start + rates_.operand_latency;
      if (step.sectors > 0) {
        l2_free_ = std::max(l2_free_, start) + step.sectors * kSectorBytes / rates_.l2_bytes;
        dram_free_ = std::max(dram_free_, start) + step.dram * kSectorBytes / rates_.dram_bytes;
        done = std::max({done, l2_free_ + step.latency, dram_free_ + step.latency});
      }
    }
    if (step.write_barrier < kScoreboards) {
      double& board = warp.scoreboard[step.write_barrier];
      const double value = step.unit == Unit::kAsyncCommit ? warp.async_landed : done;
      if (step.unit != Unit::kAsyncCommit) board = std::max(board, value);
    }
    if (step.read_barrier < kScoreboards) {
      double& board = warp.scoreboard[step.read_barrier];
      board = std::max(board, read);
    }
    warp.ready = at + step.stall;
    switch (step.unit) {
      case Unit::kAsyncCopy:
        warp.async_landed = std::max(warp.async_landed, done);
        break;
      case Unit::kAsyncCommit:
        warp.async_groups.push_back(warp.async_landed);
        break;
      case Unit::kGmma:
        warp.gmma_done = std::max(warp.gmma_done, done);
        if (step.commits) warp.gmma_groups.push_back(warp.gmma_done);
        break;
      case Unit::kBarrier:
      case Unit::kMbarrier:
        synchronize(warp, step, at);
        break;
      default:
        break;
    }
    const std::size_t before = warp.cursor.instruction();
    const std::size_t cta = warp.cta;
    warp.cursor.advance();
    if (warp.cursor.is_done()) {
      finish(core, number, cta, at);
      return;
    }
    if (warp.cursor.instruction() != before + 1)
      warp.ready = std::max(warp.ready, at + rates_.branch_clocks);
  }

  double start_gmma(SubCore& core, const Step& step, double at) {
    double& free = core.free[static_cast<std::size_t>(Unit::kTensor)];
    const double start = std::max(at, free);
    free = start + step.occupies;
    memory_free_ = std::max(memory_free_, start) + step.passes;
    return std::max(free, memory_free_) + step.latency;
  }

  void synchronize(SimWarp& warp, const Step& step, double at) {
    if (warp.number >= profile_.syncs.size()) return;
    const auto& events = profile_.syncs[warp.number];
    constexpr std::size_t kAhead = 8;
    std::size_t i = warp.sync;
    while (i < events.size() && i < warp.sync + kAhead && events[i].line != step.line) ++i;
    if (i >= events.size() || events[i].line != step.line) return;
    const SyncEvent& event = events[i];
    warp.sync = i + 1;
    Barrier& barrier = ctas_[warp.cta].barriers[event.barrier];
    if (event.arrives >= 0) {
      std::uint32_t& arrived = barrier.arrived[event.arrives];
      arrived += event.count;
      // An arrival that stands for copies comes when they have landed.
      const bool of_copies = code_[warp.cursor.instruction()].operation() == 0x1b0;
      double& complete = barrier.complete[event.arrives];
      if (complete == kNever) complete = 0;
      complete = std::max(complete, of_copies ? std::max(at, warp.async_landed) : at);
      if (arrived >= needed_[{event.barrier, event.arrives}]) {
        complete += event.barrier < 16 ? rates_.barrier_latency : rates_.mbarrier_latency;
        barrier.arrived[event.arrives] = std::numeric_limits<std::uint32_t>::max() / 2;
        wake(warp.cta, event.barrier, event.arrives, complete);
      }
    }
    if (event.awaits >= 0) {
      const auto arrived = barrier.arrived.find(event.awaits);
      const bool complete = arrived != barrier.arrived.end() &&
                            arrived->second >= std::numeric_limits<std::uint32_t>::max() / 2;
      if (complete) {
        warp.ready = std::max(warp.ready, barrier.complete[event.awaits]);
        // Its result is there when the phase is.
        if (step.write_barrier < kScoreboards) {
          double& board = warp.scoreboard[step.write_barrier];
          board = std::max(board, barrier.complete[event.awaits]);
        }
      } else if (needed_.contains({event.barrier, event.awaits})) {
        warp.blocked = true;
        warp.awaited = event.barrier;
        warp.awaits = event.awaits;
      }
    }
  }

  void wake(std::size_t cta, std::uint32_t barrier, std::int64_t phase, double at) {
    for (const std::size_t w : ctas_[cta].warps) {
      SimWarp& warp = warps_[w];
      if (!warp.blocked || warp.awaited != barrier || warp.awaits > phase) continue;
      warp.blocked = false;
      warp.ready = std::max(warp.ready, at);
    }
    for (SubCore& core : sub_cores_) core.candidate = -1;
  }

  void finish(SubCore& core, std::size_t number, std::size_t cta, double at) {
    core.warps.erase(std::find(core.warps.begin(), core.warps.end(), number));
    --alive_;
    if (--ctas_[cta].alive == 0) {
      ctas_[cta].barriers.clear();
      start_cta(at);
      for (SubCore& other : sub_cores_) other.candidate = -1;
    }
  }

  const MachineRates& rates_;
  const LaunchProfile& profile_;
  std::vector<MachineInstruction> code_;
  CodeGraph graph_;
  std::vector<WarpPlan> plans_;
  std::vector<std::vector<float>> before_;  ///< of each warp of a CTA, see WarpCursor
  std::vector<Step> steps_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> needed_;
  std::deque<SimWarp> warps_;
  std::deque<Cta> ctas_;
  std::array<SubCore, 4> sub_cores_;
  std::vector<double> fetched_;
  double fetch_free_ = 0;
  double memory_free_ = 0;
  double l2_free_ = 0;
  double next_cta_ = 0;  ///< when the card can start another one here
  double dram_free_ = 0;
  double dram_share_ = 0;  ///< of the sectors that L1 asks for
  double now_ = 0;
  double half_clock_ = 0;
  std::uint64_t half_issued_ = 0;
  std::size_t to_run_ = 0;
  std::size_t started_ = 0;
  std::size_t resident_ = 1;
  std::size_t alive_ = 0;
  double instructions_of_cta_ = 0;
  SmTime time_;
};

}  // namespace

SmTime simulate_sm(const MachineRates& rates, const LaunchProfile& profile, int resident) {
  return Simulation(rates, profile, resident).run();
}

}  // namespace evo
