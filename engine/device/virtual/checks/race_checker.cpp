#include "engine/device/virtual/checks/race_checker.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace evo::ptx {
namespace {

// The bits of a recorded access: 28 for the time, 20 for the instruction, 6 for the lanes (see
// joined_span), 6 for the entry of the vector clock (of a warp or of bulk copies), 4 flags.
constexpr std::uint64_t kClockMask = (1ULL << 28) - 1;
constexpr int kPcShift = 28;
constexpr std::uint64_t kPcMask = (1ULL << 20) - 1;
constexpr int kLaneShift = 48;
constexpr std::uint64_t kLaneMask = 63;
constexpr int kWarpShift = 54;
constexpr std::uint64_t kWarpMask = 63;
constexpr std::uint64_t kStrong = 1ULL << 60;
constexpr std::uint64_t kAsync = 1ULL << 61;  // must equal RaceChecker::kInFlight
constexpr std::uint64_t kTaint = 1ULL << 62;
constexpr std::uint64_t kValid = 1ULL << 63;
constexpr std::uint64_t kFlags = kStrong | kAsync | kTaint | kValid;
/// The bits of a record that hold the entry of the vector clock, the time and the flags.
constexpr std::uint64_t kEpoch = ~((kPcMask << kPcShift) | (kLaneMask << kLaneShift));

std::uint32_t clock_of(std::uint64_t record) {
  return static_cast<std::uint32_t>(record & kClockMask);
}
int lane_of(std::uint64_t record) { return static_cast<int>((record >> kLaneShift) & kLaneMask); }
int warp_of(std::uint64_t record) { return static_cast<int>((record >> kWarpShift) & kWarpMask); }
int pc_of(std::uint64_t record) { return static_cast<int>((record >> kPcShift) & kPcMask); }

std::uint64_t make_record(std::uint32_t clock, std::uint32_t pc, int warp, std::uint64_t flags) {
  return (clock & kClockMask) | ((pc & kPcMask) << kPcShift) |
         (static_cast<std::uint64_t>(warp) << kWarpShift) | flags | kValid;
}

std::uint64_t with_lane(std::uint64_t record, int lane) {
  return record | (static_cast<std::uint64_t>(lane) << kLaneShift);
}

/// Whether a recorded access would be included in the clock `known` of a warp if the lanes of each
/// warp had synchronised: before the release, or after the acquisition.
bool is_known_to_a_lane(const VectorClock& known, std::uint64_t record) {
  return known.includes(static_cast<std::size_t>(warp_of(record)), 0, clock_of(record));
}

/// The lane of the thread that accesses memory at the address of `lane`.
int lane_of(const RaceChecker::Access& access, int lane) {
  return access.owner < 0 ? lane : access.owner;
}

template <typename F>
void for_lanes(std::uint32_t mask, F&& body) {
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    mask &= mask - 1;
    body(lane);
  }
}

}  // namespace

void RaceChecker::reset(std::uint32_t shared_bytes, int granule, int warps) {
  shift_ = std::countr_zero(static_cast<unsigned>(granule));
  warps_ = warps;
  const std::size_t granules = (shared_bytes >> shift_) + 4;
  writes_.assign(granules, 0);
  reads_.resize(static_cast<std::size_t>(warps));
  for (auto& row : reads_) row.assign(granules, 0);
  latest_reads_.assign(static_cast<std::size_t>(warps), 0);
  clocks_.reset(warps);
  lane_fences_.assign(static_cast<std::size_t>(warps), {});
}

/// The latest time of warp `other` whose accesses are ordered before the current instruction of
/// every lane of `warp`; if `proxied`, before accesses of `warp` through the asynchronous proxy. If
/// `other` is `warp` itself: the time just before all its lanes last met.
std::uint32_t RaceChecker::limit(int warp, int other, bool proxied) const {
  const VectorClock& own = clocks_.common(warp);
  const auto o = static_cast<std::size_t>(other);
  const std::uint32_t known = other == warp ? clocks_.order(warp).whole() - 1 : own[o];
  return proxied ? std::min(known, clocks_.of(warp)[o + kProxied]) : known;
}

template <RaceChecker::Check kCheck>
void RaceChecker::check_writes(const Access& access, Result& result) const {
  constexpr bool kIsWrite = kCheck == Check::kWrite;
  const std::uint32_t count = std::max(access.bytes >> shift_, 1U);
  const std::uint64_t* writes = writes_.data();
  // Usually, one warp wrote most granules of an access at the same time, so the result for the
  // first granule is reused for all granules with the same warp and time.
  std::uint64_t good = ~0ULL;
  const auto is_good = [&](std::uint64_t record) {
    const std::uint64_t epoch = record & kEpoch;
    if (epoch == good) return true;
    // An unwritten granule is good for a write, but not for a read, which gets uninitialised data.
    const bool plain = (record & kFlags) == kValid || (kIsWrite && (record & kFlags) == 0);
    const int other = warp_of(record);
    if (!plain || clock_of(record) > limit(access.warp, other, kCheck == Check::kAsyncRead))
      return false;
    good = epoch;
    return true;
  };
  const bool is_uniform = access.pattern == LanePattern::kUniform;
  std::uint32_t suspects = 0;
  for_lanes(is_uniform ? 1U : access.mask, [&](int lane) {
    const std::uint64_t* record = writes + (access.address[lane] >> shift_);
    bool all_good = true;
    for (std::uint32_t k = 0; k < count; ++k) all_good = all_good && is_good(record[k]);
    suspects |= all_good ? 0U : 1U << lane;
  });
  if (suspects == 0) return;
  for_lanes(is_uniform ? access.mask : suspects, [&](int lane) {
    for (std::uint32_t k = 0; k < count; ++k) {
      const auto granule = static_cast<std::uint32_t>((access.address[lane] >> shift_) + k);
      check_one(access, lane, granule, kCheck, result);
    }
  });
}

void RaceChecker::check_one(const Access& access, int lane, std::uint32_t granule, Check check,
                            Result& result) const {
  const std::uint64_t record = writes_[granule];
  if (check != Check::kWrite && ((record & kValid) == 0 || (record & kTaint) != 0)) {
    result.unwritten |= 1U << lane;
  }
  if ((record & kValid) == 0) return;
  const bool both_strong = access.kind != AccessKind::kPlain && (record & kStrong) != 0;
  const int by = lane_of(access, lane);
  const int other = warp_of(record);
  const bool same_warp = other == access.warp;
  const VectorClock& limit = clocks_.of(access.warp);
  const LaneOrder& order = clocks_.order(access.warp);
  bool races = same_warp ? order.is_unordered(by, lane_of(record), clock_of(record))
                         : !clocks_.of_lane(access.warp, by)
                                .includes(static_cast<std::size_t>(other),
                                          lanes_of_span(lane_of(record)), clock_of(record));
  if ((record & kAsync) != 0) races = true;
  if (both_strong) return;
  Conflict conflict{by,   granule << shift_,      other,    lane_of(record), pc_of(record),
                    true, (record & kAsync) != 0, same_warp};
  conflict.missing_proxy_fence =
      !races && check == Check::kAsyncRead &&
      clock_of(record) > limit[static_cast<std::size_t>(other) + kProxied] &&
      !(same_warp && is_fenced_by_lane(other, by, record));
  conflict.other_time = clock_of(record);
  conflict.missing_lane_order = races && !same_warp && is_known_to_a_lane(limit, record);
  if (races || conflict.missing_proxy_fence) result.conflicts.push_back(conflict);
}

/// True if `lane` made the recorded write and executed a fence.proxy.async afterwards.
bool RaceChecker::is_fenced_by_lane(int warp, int lane, std::uint64_t record) const {
  return lane < kWarpSize && lane_of(record) == lane &&
         clock_of(record) <=
             lane_fences_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(lane)];
}

void RaceChecker::check_reads(const Access& access, Result& result) const {
  const VectorClock& limit = clocks_.common(access.warp);
  const std::uint32_t count = std::max(access.bytes >> shift_, 1U);
  for (int w = 0; w < warps_; ++w) {
    const std::uint64_t* row = reads_[static_cast<std::size_t>(w)].data();
    const std::uint32_t before = limit[static_cast<std::size_t>(w)];
    const bool own = w == access.warp;
    const LaneOrder& order = clocks_.order(w);
    const std::uint32_t latest = latest_reads_[static_cast<std::size_t>(w)];
    if (own ? latest < order.whole() : latest <= before) continue;
    for_lanes(access.mask, [&](int at) {
      const std::uint64_t first = access.address[at] >> shift_;
      const int lane = lane_of(access, at);
      for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint64_t record = row[first + k];
        const bool in_flight = (record & kAsync) != 0;
        const bool races =
            own ? order.is_unordered(lane, lane_of(record), clock_of(record))
                : clock_of(record) > before &&
                      !clocks_.of_lane(access.warp, lane)
                           .includes(static_cast<std::size_t>(w), lanes_of_span(lane_of(record)),
                                     clock_of(record));
        if (!(races || in_flight) || record == 0) continue;
        if (access.kind != AccessKind::kPlain && (record & kStrong) != 0) continue;
        Conflict conflict{lane,
                          static_cast<std::uint32_t>(first + k) << shift_,
                          w,
                          lane_of(record),
                          pc_of(record),
                          false,
                          false,
                          own};
        conflict.other_time = clock_of(record);
        conflict.missing_lane_order =
            !own && !in_flight && is_known_to_a_lane(clocks_.of(access.warp), record);
        result.conflicts.push_back(conflict);
      }
    });
  }
}

/// Records reads. An asynchronous read that is in flight stays recorded until it completes.
template <bool kCompletes>
void RaceChecker::record_reads(const Access& access) {
  auto& row = reads_[static_cast<std::size_t>(access.warp)];
  const std::uint32_t now = clocks_.now(access.warp);
  auto& latest = latest_reads_[static_cast<std::size_t>(access.warp)];
  latest = std::max(latest, now);
  const std::uint64_t base =
      make_record(now, access.pc, access.warp, access.kind == AccessKind::kPlain ? 0 : kStrong);
  const std::uint64_t several = with_lane(base, access.owner < 0 ? kAllLanesSpan : access.owner);
  const LaneOrder& order = clocks_.order(access.warp);
  const std::uint32_t count = std::max(access.bytes >> shift_, 1U);
  // If all lanes read the same address, recording the first and the last lane gives the same
  // record.
  const std::uint32_t lanes = access.pattern == LanePattern::kUniform ? 0x80000001U : access.mask;
  for_lanes(lanes, [&](int lane) {
    // An asynchronous read is recorded for its owner or, without an owner, for all lanes.
    const std::uint64_t own = kCompletes ? several : with_lane(base, lane);
    std::uint64_t* word = row.data() + (access.address[lane] >> shift_);
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint64_t old = word[k];
      if (!kCompletes && (old & kAsync) != 0) continue;
      // The current read replaces a recorded read that is ordered before it, because every access
      // that is ordered after the current read is also ordered after the recorded read.
      const bool is_first =
          old == 0 || clock_of(old) < order.whole() ||
          (lane_of(old) != lane && !order.is_unordered(lane, lane_of(old), clock_of(old)));
      if (is_first || kCompletes) {
        word[k] = own;
        continue;
      }
      // A strong read must not replace the record of a weak read, and a read by one lane must not
      // replace the record of another lane's read.
      const std::uint64_t hidden = (old & kStrong) == 0 ? kStrong : 0;
      const int span = joined_span(lane_of(old), lane);
      const std::uint32_t since = span == lane ? now : clock_of(old);
      word[k] =
          with_lane(make_record(since, access.pc, access.warp, base & kStrong), span) & ~hidden;
    }
  });
}

void RaceChecker::record_writes(const Access& access, std::uint64_t flags) {
  const std::uint32_t now = clocks_.now(access.warp);
  const std::uint64_t base = make_record(now, access.pc, access.warp, flags);
  const std::uint32_t count = std::max(access.bytes >> shift_, 1U);
  for_lanes(access.mask, [&](int lane) {
    const std::uint64_t own = with_lane(base, lane_of(access, lane));
    std::uint64_t* word = writes_.data() + (access.address[lane] >> shift_);
    for (std::uint32_t k = 0; k < count; ++k) word[k] = own;
  });
}

void RaceChecker::put_record(std::vector<std::uint64_t>& granules, const Access& access,
                             std::uint64_t record) const {
  const std::uint32_t count = std::max(access.bytes >> shift_, 1U);
  for_lanes(access.mask, [&](int lane) {
    std::fill_n(granules.data() + (access.address[lane] >> shift_), count, record);
  });
}

RaceChecker::Result RaceChecker::read(const Access& access) {
  Result result;
  check_writes<Check::kRead>(access, result);
  record_reads<false>(access);
  return result;
}

RaceChecker::Result RaceChecker::write(const Access& access) {
  Result result;
  check_writes<Check::kWrite>(access, result);
  check_reads(access, result);
  // If several lanes of a store write the same word, the write of the highest lane is recorded.
  const std::uint64_t flags = access.kind == AccessKind::kPlain ? 0 : kStrong;
  const std::uint32_t now = clocks_.now(access.warp);
  const std::uint64_t base = make_record(now, access.pc, access.warp, flags);
  const std::uint32_t count = std::max(access.bytes >> shift_, 1U);
  for_lanes(access.mask, [&](int lane) {
    const std::uint64_t own = with_lane(base, lane);
    std::uint64_t* word = writes_.data() + (access.address[lane] >> shift_);
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint64_t old = word[k];
      const bool same_store = ((old ^ own) & ~(kLaneMask << kLaneShift)) == 0 && old != own;
      if (same_store && flags == 0) {
        const auto granule = static_cast<std::uint32_t>((access.address[lane] >> shift_) + k);
        result.conflicts.push_back(
            {lane, granule << shift_, access.warp, lane_of(old), pc_of(old), true, false, true});
      }
      word[k] = own;
    }
  });
  return result;
}

RaceChecker::Result RaceChecker::atomic(const Access& access) {
  Result result;
  check_writes<Check::kRead>(access, result);
  check_reads(access, result);
  record_writes(access, kStrong);
  return result;
}

RaceChecker::Result RaceChecker::begin_async(const Access& access) {
  Result result;
  check_writes<Check::kWrite>(access, result);
  check_reads(access, result);
  record_writes(access, kAsync);
  return result;
}

void RaceChecker::complete_async(const Access& access) { record_writes(access, 0); }

void RaceChecker::complete_copy(const Access& access, int copies, std::uint32_t time) {
  const std::uint64_t record =
      with_lane(make_record(time, access.pc, copies, 0), lane_of(access, kAllLanesSpan));
  put_record(writes_, access, record);
}

RaceChecker::Result RaceChecker::begin_async_read(const Access& access) {
  Result result;
  check_writes<Check::kAsyncRead>(access, result);
  mark_async_read(access);
  return result;
}

void RaceChecker::mark_async_read(const Access& access) {
  auto& row = reads_[static_cast<std::size_t>(access.warp)];
  latest_reads_[static_cast<std::size_t>(access.warp)] = std::numeric_limits<std::uint32_t>::max();
  // The read is recorded with the latest possible time, so that every write until its completion is
  // reported as a race.
  const std::uint64_t record =
      with_lane(make_record(static_cast<std::uint32_t>(kClockMask), access.pc, access.warp, kAsync),
                lane_of(access, kAllLanesSpan));
  put_record(row, access, record);
}

void RaceChecker::complete_async_read(const Access& access) { record_reads<true>(access); }

void RaceChecker::complete_copy_read(const Access& access, std::uint32_t time) {
  auto& row = reads_[static_cast<std::size_t>(access.warp)];
  const std::uint64_t record =
      with_lane(make_record(time, access.pc, access.warp, 0), lane_of(access, kAllLanesSpan));
  put_record(row, access, record);
}

void RaceChecker::fence_proxy(int warp, std::uint32_t lanes, bool all_lanes) {
  VectorClock& own = clocks_.of(warp);
  for_lanes(lanes, [&](int lane) {
    lane_fences_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(lane)] =
        own[static_cast<std::size_t>(warp)];
  });
  for (std::size_t i = 0; i < kClocks; ++i) {
    // If only some lanes execute the fence, other lanes may have made accesses at the current time
    // of the warp, so the fence covers earlier times only; lane_fences_ covers the lanes that
    // execute it. An earlier access of another lane that is not ordered before the fence is found
    // as a race.
    const bool partly = i == static_cast<std::size_t>(warp) && !all_lanes;
    own[i + kProxied] = std::max(own[i + kProxied], partly ? own[i] - 1 : own[i]);
  }
  clocks_.tick(warp);
}

std::vector<RaceChecker::Recorded> RaceChecker::recorded(std::uint32_t address, std::uint32_t bytes,
                                                         bool with_reads) const {
  std::vector<Recorded> found;
  const std::uint32_t first = address >> shift_;
  const std::uint32_t end = first + std::max(bytes >> shift_, 1U);
  const auto take = [&](const std::vector<std::uint64_t>& row, std::size_t granule, bool is_write) {
    const std::uint64_t record = row[granule];
    if ((record & kValid) == 0) return;
    found.push_back({warp_of(record), lane_of(record), pc_of(record), clock_of(record),
                     static_cast<std::uint32_t>(granule << shift_), is_write,
                     (record & kStrong) != 0, (record & kAsync) != 0});
  };
  for (std::uint32_t granule = first; granule < end; ++granule) {
    take(writes_, granule, true);
    for (const auto& row : reads_) {
      if (with_reads) take(row, granule, false);
    }
  }
  return found;
}

std::uint32_t RaceChecker::taint_mask(std::uint32_t address, std::uint32_t bytes) const {
  std::uint32_t mask = 0;
  for (std::uint32_t b = 0; b < bytes; ++b) {
    const std::uint64_t record = writes_[(address + b) >> shift_];
    if ((record & kValid) == 0 || (record & kTaint) != 0) mask |= 1U << b;
  }
  return mask;
}

void RaceChecker::add_taint(std::uint32_t address, std::uint32_t byte_mask) {
  for (; byte_mask != 0; byte_mask &= byte_mask - 1) {
    const auto byte = static_cast<std::uint32_t>(std::countr_zero(byte_mask));
    writes_[(address + byte) >> shift_] |= kTaint;
  }
}

}  // namespace evo::ptx
