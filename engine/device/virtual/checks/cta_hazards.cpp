// Member functions of Cta that report hazards.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

namespace {

/// True if the warp has polled an mbarrier in vain many times in succession, and still polls it.
bool polls_in_vain(const Warp& warp) {
  constexpr std::uint64_t kOften = 1000;
  return warp.state == WarpState::kReady && warp.vain_waits >= kOften &&
         warp.executed - warp.waited_at <= kPollingLoop;
}

}  // namespace

std::string Cta::describe_awaited(const Warp& warp) const {
  const std::string text = " waits for the mbarrier at " + names_.shared(warp.awaited);
  const auto found = mbarriers_.find(warp.awaited);
  if (found == mbarriers_.end()) return text;
  const MBarrier& barrier = found->second;
  return text + ", whose phase " + std::to_string(barrier.phase) + " has " +
         std::to_string(barrier.count - barrier.pending) + " of " + std::to_string(barrier.count) +
         " arrivals,";
}

std::string Cta::describe_wait(const Warp& warp) const {
  std::string text = "warp " + std::to_string(warp.index);
  if (warp.state == WarpState::kDone) return text + " has exited";
  if (warp.barrier >= 0) {
    const NamedBarrier& barrier = barriers_.at(static_cast<std::uint32_t>(warp.barrier));
    text += " waits at barrier " + std::to_string(warp.barrier) + " (" +
            std::to_string(barrier.arrived) + " of " +
            (barrier.expected == 0 ? std::string("all") : std::to_string(barrier.expected)) +
            " threads arrived)";
    const auto pc = static_cast<int>(warp.blocked_at - program().code.data());
    return text + " at " + describe_instruction(program(), pc);
  }
  if (polls_in_vain(warp)) {
    const auto pc = static_cast<int>(warp.blocked_at - program().code.data());
    return text + describe_awaited(warp) + " at " + describe_instruction(program(), pc);
  }
  text += " at " + describe_instruction(program(), static_cast<int>(warp.pc));
  if (warp.state != WarpState::kBlocked) return text;
  if (std::holds_alternative<ClusterBarrierOperands>(program().code[warp.pc].operands))
    return text + " (" + cluster_->describe_arrivals() + ")";
  const auto& group = warpgroups_[static_cast<std::size_t>(warp.index / kGroupWarps)];
  if (program().info[warp.pc].opcode == Opcode::kSetmaxnreg) {
    return text + " (the warp has " + std::to_string(warp.registers) +
           " registers a thread, and the CTA has " +
           std::to_string(register_pool_.free() * kWarpSize) + " free registers)";
  }
  return text + " (executed " + std::to_string(group.issued(warp.index % kGroupWarps)) +
         " wgmma; another warp of its warpgroup executed " + std::to_string(group.issued_by_all()) +
         ")";
}

void Cta::report_deadlock() {
  std::string what = "no warp can run:";
  int first = -1;
  int named = 0;
  for (const Warp& warp : warps_) {
    if (warp.state == WarpState::kDone && warps_.size() > 4) continue;
    if (first < 0 && (warp.state == WarpState::kBlocked || polls_in_vain(warp))) {
      first = static_cast<int>(warp.blocked_at - program().code.data());
    }
    if (++named > 8) continue;
    what += (named > 1 ? "; " : " ") + describe_wait(warp);
  }
  if (named > 8) what += "; …";
  fail(HazardKind::kDeadlock, first, -1, what);
}

std::string Cta::describe_lacking_bytes() const {
  std::string text;
  const std::map<std::uint32_t, const MBarrier*> sorted = [&] {
    std::map<std::uint32_t, const MBarrier*> all;
    for (const auto& [address, barrier] : mbarriers_) all[address] = &barrier;
    return all;
  }();
  for (const auto& [address, barrier] : sorted) {
    const std::int64_t missing = barrier->transactions - bytes_in_flight(*barrier);
    if (barrier->pending == 0 && missing < 0 && barrier->copies.empty()) {
      text += (text.empty() ? "" : "; ") + std::string("the mbarrier at ") +
              names_.shared(address) + " got " + std::to_string(-missing) +
              " bytes more than it expects (expect_tx)";
    }
    if (barrier->pending != 0 || missing <= 0) continue;
    text +=
        (text.empty() ? "" : "; ") + std::string("the mbarrier at ") + names_.shared(address) +
        " waits for " + std::to_string(missing) +
        " bytes that no copy brings (expect_tx announced more bytes than the copies on it have)";
  }
  return text;
}

bool Cta::all_wait() const { return cluster_ == nullptr ? only_waits() : cluster_->only_waits(); }

bool Cta::waits_in_vain() const {
  constexpr std::uint64_t kLong = 200'000;  ///< warp instructions
  return scheduler_.without_progress() >= kLong && all_wait();
}

bool Cta::counts_history() {
  if (history_ == nullptr || history_->size() == counted_history_) return true;
  const std::uint64_t before = std::exchange(counted_history_, history_->size());
  return launch_.global_races.note_recorded(counted_history_ - before);
}

bool Cta::only_waits() const {
  return std::ranges::all_of(warps_, [](const Warp& warp) {
    return warp.state != WarpState::kReady || polls_in_vain(warp);
  });
}

void Cta::report_livelock(const Warp& warp) {
  if (const std::string lacking = describe_lacking_bytes(); !lacking.empty()) {
    fail(HazardKind::kDeadlock, pc_of(warp), -1, lacking + "; " + describe_wait(warp));
    return;
  }
  if (all_wait()) {
    report_deadlock();
    return;
  }
  std::string what;
  if (scheduler_.executed() > launch_.issue_budget) {
    what = fmt::format("more than {} warp instructions in one CTA", launch_.issue_budget);
  } else if (!launch_.global_races.note_recorded(0)) {
    what = fmt::format(
        "the CTAs read and wrote flags, locks or counters more than {} times (an endless loop, or "
        "too much for the checks)",
        GlobalRaces::kMostRecorded);
  } else {
    what = fmt::format(
        "warp {} runs, but nothing changed during {} warp instructions (an endless loop, or "
        "waiting for an event that never comes)",
        warp.index, scheduler_.without_progress());
  }
  fail(HazardKind::kLivelock, pc_of(warp), -1, what);
}

/// Reports each warpgroup whose warps executed different numbers of wgmma instructions.
void Cta::check_warpgroups() {
  for (std::size_t g = 0; g < warpgroups_.size(); ++g) {
    for (int w = 0; w < kGroupWarps; ++w) {
      if (warpgroups_[g].issued(w) == warpgroups_[g].issued_by_all()) continue;
      report(HazardKind::kDivergence, -1, -1,
             "warp " + std::to_string(g * kGroupWarps + static_cast<std::size_t>(w)) +
                 " executed " + std::to_string(warpgroups_[g].issued(w)) +
                 " wgmma instructions, and another warp of its warpgroup executed " +
                 std::to_string(warpgroups_[g].issued_by_all()));
      break;
    }
  }
}

/// Reports bulk copies for whose completion no thread waited.
void Cta::check_copies() {
  for (const auto& [address, barrier] : mbarriers_) {
    if (barrier.copies.empty()) continue;
    const BulkLoad& copy = barrier.copies.front();
    report(HazardKind::kPendingWork, static_cast<int>(copy.pc), -1,
           "the bulk copy of " + names_.thread(copy.warp, copy.lane) + " to " +
               names_.shared(copy.chunks.front()) + " was never waited for (mbarrier at " +
               names_.shared(address) + ")");
  }
}

void Cta::check_leftovers() {
  if (!launch_.check) return;
  launch_.global_races.leave(number_, std::move(plain_reads_));
  plain_reads_.clear();
  check_warpgroups();
  check_copies();
  for (std::uint32_t id = 0; id < NamedBarriers::kCount; ++id) {
    const NamedBarrier& barrier = barriers_.at(id);
    if (!barrier.in_use) continue;
    report(HazardKind::kPendingWork, barrier.first_pc, -1,
           "barrier " + std::to_string(id) + " is left with " + std::to_string(barrier.arrived) +
               " of " +
               (barrier.expected == 0 ? std::string("all") : std::to_string(barrier.expected)) +
               " threads arrived when the CTA ends");
  }
}

void Cta::report(HazardKind kind, int instruction, int other, std::string what) {
  launch_.hazards->add({kind, instruction, other, std::move(what), index_});
}

void Cta::fail(HazardKind kind, int instruction, int other, std::string what) {
  report(kind, instruction, other, std::move(what));
  failed_ = true;
  launch_.stop.store(true, std::memory_order_relaxed);
}

bool Cta::is_reported(HazardKind kind, int instruction, int other) const {
  return launch_.hazards->is_known(kind, instruction, other);
}

}  // namespace evo::ptx
