#include "engine/predict/sm_simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/code_fetch.hpp"
#include "engine/predict/cta_barriers.hpp"
#include "engine/predict/issue_step.hpp"
#include "engine/predict/memory_unit.hpp"
#include "engine/predict/sim_kind.hpp"
#include "engine/predict/sim_warp.hpp"
#include "engine/predict/sub_core.hpp"
#include "engine/predict/warp_path.hpp"

namespace evo {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMostIssued = 250'000;

class Simulation {
 public:
  Simulation(const MachineRates& rates, const LaunchProfile& profile, int resident,
             SmActivity* activity)
      : rates_(rates),
        profile_(profile),
        activity_(activity),
        code_(read_machine_code(profile.cubin, profile.entry)),
        graph_(code_, rates.is_sm90),
        memory_(rates, {.active = std::min(static_cast<double>(profile.ctas) / rates.sms, 1.0),
                        .distinct = distinct_share(profile)}) {
    correct_lines_of_polls(graph_, code_);
    std::vector<double> executions(code_.size());  // executions by a CTA, mean over the grid
    for (const CtaKind& kind : profile.kinds) {
      kinds_.emplace_back(kind, plans_of_warps(code_, graph_, kind.lines, profile.warps_per_cta));
      const auto of_kind = executions_of(kinds_.back().plans, graph_, code_.size());
      for (std::size_t i = 0; i < code_.size(); ++i) executions[i] += kind.share * of_kind[i];
    }
    steps_ = issue_steps(rates, code_, executions, profile);
    fetch_.emplace(rates, executions);
    const auto ctas = static_cast<double>(profile.ctas);
    to_run_ = static_cast<std::size_t>(std::ceil(ctas / rates.sms));
    if (differs()) to_run_ = profile.last_sm.kinds.size();
    resident_ = static_cast<std::size_t>(std::max(resident, 1));
    // All other SMs receive their first CTA before this SM does.
    next_cta_ = rates.cta_interval * std::min(ctas / rates.sms, 1.0);
    for (std::size_t i = 0; i < to_run_; ++i) instructions_ += kinds_[kind_of(i)].instructions;
    if (differs()) instructions_ *= profile.last_sm.each;
    if (activity_ != nullptr) *activity_ = {.waits = std::vector<WaitClocks>(code_.size())};
  }

  SmTime run() {
    if (!knows_lines() || !std::ranges::all_of(kinds_, &SimKind::does_fit)) return time_;
    for (std::size_t i = 0; i < std::min(resident_, to_run_); ++i) start_cta(0);
    while (alive_ > 0) {
      if (!issue_one()) break;
      if (time_.issued >= kMostIssued) break;
    }
    // A kernel ends when all its stores have arrived in memory.
    time_.clocks = std::max(now_, memory_.stored());
    if (activity_ != nullptr && now_ > 0) {
      for (double& busy : activity_->busy) busy /= static_cast<double>(sub_cores_.size()) * now_;
      activity_->memory_busy /= now_;
    }
    const bool is_part = alive_ > 0 || (differs() && profile_.last_sm.each > 1);
    if (is_part && time_.issued > half_issued_) {
      time_.is_whole = false;
      // The rest of the kernel is assumed to run as fast as the second half of the simulated part.
      const double rate = (now_ - half_clock_) / static_cast<double>(time_.issued - half_issued_);
      time_.clocks += std::max(instructions_ - static_cast<double>(time_.issued), 0.0) * rate;
    }
    time_.us = time_.clocks / (uses_tensor_cores() ? rates_.tensor_clock_mhz : rates_.clock_mhz) +
               (memory_.stored() > 0 ? rates_.drain_us : 0);
    // Atomics on the same address are serialised in L2, independently of other work.
    time_.us = std::max(time_.us, profile_.hot_atomics * rates_.atomic_interval / rates_.clock_mhz);
    return time_;
  }

 private:
  bool differs() const { return profile_.kinds.size() > 1; }

  std::size_t kind_of(std::size_t cta) const {
    return differs() ? profile_.last_sm.kinds[cta % profile_.last_sm.kinds.size()] : 0;
  }

  bool uses_tensor_cores() const {
    return std::ranges::any_of(kinds_, [](const SimKind& kind) {
      return std::ranges::any_of(kind.plans, [](const WarpPlan& plan) { return plan.flops > 0; });
    });
  }

  bool knows_lines() const {
    return std::ranges::any_of(
        code_, [](const MachineInstruction& instruction) { return instruction.ptx_line != 0; });
  }

  void start_cta(double at) {
    if (started_ == to_run_) return;
    const double start = std::max(at + (at > 0 ? rates_.cta_clocks : 0), next_cta_);
    next_cta_ = start + rates_.cta_interval;
    const std::size_t number = ctas_.size();
    // The phase decides how a CTA rounds fractional numbers of loop passes. Phase 0 (first CTA)
    // makes the most passes; multiples of the golden ratio spread the phases of the other CTAs.
    constexpr double kGolden = 0.6180339887;
    const double turns = static_cast<double>(number) * kGolden;
    const double phase = turns - std::floor(turns);
    ctas_.emplace_back();
    SimCta& cta = ctas_.back();
    cta.kind = kind_of(number);
    for (int w = 0; w < profile_.warps_per_cta; ++w) {
      SimWarp warp(graph_, kinds_[cta.kind].plans[static_cast<std::size_t>(w)], phase);
      warp.cta = number;
      warp.number = static_cast<std::size_t>(w);
      warp.ready = start;
      warp.issued = start;
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

  /// The time at which the warp can issue its next instruction, and why it waits until then.
  std::pair<double, Wait> earliest(const SubCore& core, const SimWarp& warp) const {
    if (warp.blocked) return {kNever, Wait::kBarrier};
    const IssueStep& step = steps_[warp.cursor.instruction()];
    std::pair<double, Wait> at = {warp.ready, warp.ready_by};
    const auto until = [&](double time, Wait reason) {
      if (time > at.first) at = {time, reason};
    };
    unsigned waits = step.waits;
    while (waits != 0) {
      const auto bit = static_cast<std::size_t>(__builtin_ctz(waits));
      waits &= waits - 1;
      until(warp.scoreboard[bit], warp.scoreboard_by[bit]);
    }
    until(warp.arrives(step), Wait::kFixedLatency);
    until(core.free[static_cast<std::size_t>(step.unit)], Wait::kUnit);
    if (step.passes > 0 && step.unit != Unit::kGmma) until(memory_.takes_from(), Wait::kMemoryUnit);
    const auto until_landed = [&](const std::vector<double>& groups, Wait reason) {
      if (groups.size() > step.pending) until(groups[groups.size() - 1 - step.pending], reason);
    };
    if (step.unit == Unit::kAsyncWait) until_landed(warp.async_groups, Wait::kAsyncCopy);
    if (step.unit == Unit::kGmmaWait) until_landed(warp.gmma_groups, Wait::kWgmma);
    until(core.next, Wait::kNotSelected);
    return at;
  }

  void choose(SubCore& core) const {
    core.candidate = kNever;
    for (const std::size_t w : core.warps) {
      const double at = earliest(core, warps_[w]).first;
      // Among warps that can issue at the same time, prefers the last to issue, then the oldest.
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

  /// Unblocks all warps, because inconsistent simulated paths would block them for ever.
  bool release_any() {
    bool any = false;
    for (SimWarp& warp : warps_) {
      if (!warp.blocked) continue;
      warp.blocked = false;
      warp.wait_until(now_, Wait::kBarrier);
      any = true;
    }
    for (SubCore& core : sub_cores_) core.candidate = -1;
    return any;
  }

  void issue(SubCore& core, SimWarp& warp, std::size_t number, double at) {
    const std::size_t index = warp.cursor.instruction();
    const IssueStep& step = steps_[index];
    const auto sub_core = static_cast<std::size_t>(&core - sub_cores_.data());
    const double fetched = fetch_->arrives(sub_core, index, at);
    if (fetched > at) {
      warp.wait_until(fetched, Wait::kFetch);
      core.candidate = -1;
      return;
    }
    if (activity_ != nullptr) note(core, warp, step, at);
    now_ = std::max(now_, at);
    ++time_.issued;
    if (time_.issued == kMostIssued / 2) {
      half_clock_ = now_;
      half_issued_ = time_.issued;
    }
    core.next = at + rates_.issue;
    core.last = number;
    core.candidate = -1;
    const auto unit = static_cast<std::size_t>(step.unit);
    core.share_registers(rates_, step, at);
    double done = at + step.latency;
    double read = at + rates_.operand_latency;
    if (step.unit == Unit::kBulkCopy) {
      core.free[unit] = at + step.occupies;
      if (!step.never) done = memory_.copy(step, at);
    } else if (step.passes == 0) {
      core.free[unit] = at + step.occupies;
      done = at + step.occupies - 1 + step.latency;
    } else if (step.unit == Unit::kGmma) {
      done = start_gmma(core, step, at);
    } else if (!step.never) {
      core.free[unit] = at + 2;
      const MemoryUnit::Access access = memory_.access(step, at);
      done = access.done;
      read = access.read;
    }
    const Wait reason = is_global(step.unit) ? Wait::kGlobal : Wait::kShared;
    // A commit of copies has no result to wait for, because DEPBAR waits for the copies.
    if (step.unit != Unit::kAsyncCommit) warp.hold(step.write_barrier, done, reason);
    warp.hold(step.read_barrier, read, reason);
    warp.write(step, at + step.latency);
    warp.issued = at;
    warp.ready = at + step.stall + step.pause;
    warp.ready_by = Wait::kFixedLatency;
    switch (step.unit) {
      case Unit::kGlobalStore:
        warp.stored = std::max(warp.stored, done);
        break;
      case Unit::kFence:
        warp.wait_until(std::max(at, warp.stored) + rates_.fence_latency, Wait::kGlobal);
        break;
      case Unit::kAsyncCopy:
        note_copied(warp, done);
        break;
      case Unit::kBulkCopy:
        // A bulk copy into shared memory arrives at its mbarrier when it is complete.
        step.stores ? note_copied(warp, done) : synchronize(warp, step, done);
        break;
      case Unit::kAsyncCommit:
        warp.async_groups.push_back(warp.async_landed);
        break;
      case Unit::kGmma:
        warp.gmma_done = std::max(warp.gmma_done, done);
        if (step.commits) warp.gmma_groups.push_back(warp.gmma_done);
        break;
      case Unit::kBarrier:
        barrier_free_ = std::max(barrier_free_, at) + rates_.barrier_arrival;
        synchronize(warp, step, barrier_free_);
        break;
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
      warp.wait_until(at + rates_.branch_clocks, Wait::kBranch);
  }

  static void note_copied(SimWarp& warp, double at) {
    warp.async_landed = std::max(warp.async_landed, at);
  }

  /// Records, for SmActivity, why the instruction waited, and for how long it occupies its units.
  void note(const SubCore& core, const SimWarp& warp, const IssueStep& step, double at) {
    WaitClocks& clocks = activity_->waits[warp.cursor.instruction()];
    clocks[static_cast<std::size_t>(earliest(core, warp).second)] +=
        std::max(at - warp.issued - 1, 0.0);
    clocks[static_cast<std::size_t>(Wait::kSelected)] += 1;
    if (step.passes == 0 || step.unit == Unit::kGmma)
      activity_->busy[static_cast<std::size_t>(step.unit)] += step.occupies;
    if (!step.never) activity_->memory_busy += step.passes;
  }

  double start_gmma(SubCore& core, const IssueStep& step, double at) {
    double& free = core.free[static_cast<std::size_t>(Unit::kTensor)];
    const double start = std::max(at, free);
    free = start + step.occupies;
    return std::max(free, memory_.read_matrices(step, start)) + step.latency;
  }

  void synchronize(SimWarp& warp, const IssueStep& step, double at) {
    const SimKind& kind = kinds_[ctas_[warp.cta].kind];
    if (warp.number >= kind.syncs->size()) return;
    const auto& events = (*kind.syncs)[warp.number];
    constexpr std::size_t kAhead = 8;
    std::size_t i = warp.sync;
    while (i < events.size() && i < warp.sync + kAhead && events[i].line != step.line) ++i;
    if (i >= events.size() || events[i].line != step.line) return;
    const SyncEvent& event = events[i];
    warp.sync = i + 1;
    CtaBarriers& barriers = ctas_[warp.cta].barriers;
    if (event.arrives >= 0) {
      const double arrival = step.arrives_later ? std::max(at, warp.async_landed) : at;
      if (const auto complete = barriers.arrive(event, arrival, kind.needed, rates_))
        wake(warp.cta, event.barrier, event.arrives, *complete);
    }
    if (event.awaits < 0) return;
    if (const auto complete = barriers.completed(event)) {
      warp.wait_until(*complete, wait_at(event.barrier));
      // The result of a wait for an mbarrier is available when the phase is complete.
      warp.hold(step.write_barrier, *complete, wait_at(event.barrier));
    } else if (kind.needed.contains({event.barrier, event.awaits})) {
      warp.blocked = true;
      warp.awaited = event.barrier;
      warp.awaits = event.awaits;
    }
  }

  void wake(std::size_t cta, std::uint32_t barrier, std::int64_t phase, double at) {
    for (const std::size_t w : ctas_[cta].warps) {
      SimWarp& warp = warps_[w];
      if (!warp.blocked || warp.awaited != barrier || warp.awaits > phase) continue;
      warp.blocked = false;
      warp.wait_until(at, wait_at(barrier));
    }
    for (SubCore& core : sub_cores_) core.candidate = -1;
  }

  void finish(SubCore& core, std::size_t number, std::size_t cta, double at) {
    core.warps.erase(std::find(core.warps.begin(), core.warps.end(), number));
    --alive_;
    if (--ctas_[cta].alive > 0) return;
    ctas_[cta].barriers.clear();
    start_cta(at);
    for (SubCore& other : sub_cores_) other.candidate = -1;
  }

  const MachineRates& rates_;
  const LaunchProfile& profile_;
  SmActivity* activity_;  ///< may be null
  std::vector<MachineInstruction> code_;
  CodeGraph graph_;
  std::vector<SimKind> kinds_;
  std::vector<IssueStep> steps_;
  MemoryUnit memory_;
  std::optional<CodeFetch> fetch_;
  std::deque<SimWarp> warps_;
  std::deque<SimCta> ctas_;
  std::array<SubCore, CodeFetch::kSubCores> sub_cores_;
  double barrier_free_ = 0;
  double next_cta_ = 0;  ///< when this SM can receive another CTA
  double now_ = 0;
  double half_clock_ = 0;
  std::uint64_t half_issued_ = 0;
  std::size_t to_run_ = 0;
  std::size_t started_ = 0;
  std::size_t resident_ = 1;
  std::size_t alive_ = 0;
  double instructions_ = 0;  ///< total over all CTAs of the SM
  SmTime time_;
};

}  // namespace

SmTime simulate_sm(const MachineRates& rates, const LaunchProfile& profile, int resident,
                   SmActivity* activity) {
  SmTime time = Simulation(rates, profile, resident, activity).run();
  if (time.is_whole || profile.kinds.size() < 2) return time;
  // When the last CTA runs, the SM has no other CTAs, so the last CTA is simulated alone.
  LaunchProfile last = profile;
  last.last_sm = {.kinds = {profile.last_sm.last}};
  const SmTime alone = Simulation(rates, last, 1, nullptr).run();
  time.clocks = std::max(time.clocks, profile.last_sm.last_start * time.clocks + alone.clocks);
  time.us = std::max(time.us, profile.last_sm.last_start * time.us + alone.us);
  return time;
}

}  // namespace evo
