#include "engine/device/virtual/memory/global_access.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/device/virtual/checks/global_races.hpp"
#include "engine/device/virtual/checks/store_owners.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"

namespace evo::ptx {
namespace {

using Record = GlobalRaces::Record;
using Word = GlobalRaces::Word;
using Stripe = GlobalRaces::Stripe;

std::array<std::uint32_t, 3> index_of(const LaunchContext& launch, std::uint64_t cta) {
  const auto& grid = launch.grid;
  return {static_cast<std::uint32_t>(cta % grid[0]),
          static_cast<std::uint32_t>(cta / grid[0] % grid[1]),
          static_cast<std::uint32_t>(cta / grid[0] / grid[1])};
}

std::string cta_text(const LaunchContext& launch, std::uint64_t cta) {
  const auto index = index_of(launch, cta);
  return "CTA (" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
         std::to_string(index[2]) + ")";
}

Hazard race(const LaunchContext& launch, std::uint64_t cta, const GlobalRaces::PlainRead& access,
            const char* verb) {
  return {
      HazardKind::kGlobalRace, access.pc, -1,
      std::string(verb) + " of " + launch.memory->describe(access.address) + " by " +
          PlaceNames(launch).thread(access.warp, static_cast<int>(access.lane)) +
          " is not ordered after the access by " +
          cta_text(launch, GlobalRaces::cta_of(access.other)) +
          " to the same address in this launch (required: in that CTA, a fence and then an atomic "
          "or volatile write; in this CTA, an atomic or volatile read of the written value)",
      index_of(launch, cta)};
}

GlobalRaces::Actor actor_of(const Warp& warp) {
  Cta& cta = *warp.cta;
  return {cta.number(), warp.index, cta.races().clocks().of(warp.index), cta.history()};
}

/// True if the race check records an access. Accesses to memory that no kernel may write are not
/// recorded, because they cannot race.
bool is_checked(const Warp& warp, const LaneAccess& access) {
  const bool is_read_only = access.buffer != nullptr && !access.buffer->writable;
  const LaunchContext& launch = warp.cta->launch();
  return access.global != 0 && !is_read_only && launch.check && launch.global_races.is_on();
}

/// The lanes whose accesses are recorded. If all lanes read the same address, the access of one
/// lane is enough.
std::uint32_t places_of(const LaneAccess& access) {
  return access.pattern == LanePattern::kUniform ? 1U : access.global;
}

}  // namespace

WatchedPlaces::WatchedPlaces(Warp& warp, const LaneAccess& access, std::uint32_t bytes)
    : warp_(warp),
      access_(access),
      races_(warp.cta->launch().global_races),
      bytes_(bytes),
      granule_(std::min(1U << races_.shift(), bytes)),
      is_active_(is_checked(warp, access)),
      buffer_(warp.cta->buffer_cache()[warp.pc]) {}

GlobalBuffer* WatchedPlaces::writable_at(std::uint64_t address) {
  if (buffer_ == nullptr || !buffer_->contains(address, bytes_))
    buffer_ = warp_.cta->launch().memory->find(address);
  return buffer_->writable ? buffer_ : nullptr;  // no CTA writes a read-only buffer
}

void WatchedPlaces::hold(std::uint64_t address) {
  Stripe* const stripe = &races_.stripe_of(address);
  if (stripe == stripe_) return;
  stripe_ = stripe;
  if (lock_.owns_lock()) lock_.unlock();
  lock_ = std::unique_lock(stripe->lock);
}

void WatchedPlaces::enter(std::size_t lane) {
  words_ = {};
  plain_ = nullptr;
  if (!is_active_ || ((access_.global >> lane) & 1U) == 0) return;
  lane_ = lane;
  const std::uint64_t address = access_.address[lane];
  GlobalBuffer* const buffer = writable_at(address);
  if (buffer == nullptr) return;
  place_ = (address - buffer->base) >> races_.shift();
  if (races_.is_plain()) {
    plain_ = races_.plain_shadow_of(*buffer);
    if (plain_ == nullptr) return;
  } else {
    Word* const shadow = races_.shadow_of(*buffer);
    if (shadow == nullptr) return;
    words_ = {shadow + place_, bytes_ / granule_};
  }
  hold(address);
}

std::uint32_t WatchedPlaces::plain_cta() const {
  return static_cast<std::uint32_t>(warp_.cta->number()) + 1;
}

void WatchedPlaces::report(Record other, std::size_t word, const char* verb) {
  if (other == 0) return;
  Cta& cta = *warp_.cta;
  if (cta.is_reported(HazardKind::kGlobalRace, pc_of(warp_), -1)) return;
  const std::uint64_t address = access_.address[lane_] + word * granule_;
  cta.launch().hazards->add(
      race(cta.launch(), cta.number(),
           {pc_of(warp_), warp_.index, static_cast<std::size_t>(access_.thread_of(lane_)), address,
            other},
           verb));
}

/// True if a store leaves word `word` of the access unchanged. Such a store is not reported as a
/// race; if it is strong, it also orders nothing. If it is weak, it is still recorded, so later
/// accesses may race with it.
bool WatchedPlaces::is_same(std::size_t word, const std::byte* values) const {
  std::byte old[8];
  const std::size_t at = word * granule_;
  copy_from_guest(old, access_.pointer[lane_] + at, granule_);
  return std::memcmp(old, values + at, granule_) == 0;
}

void WatchedPlaces::read() {
  for (std::size_t at = 0; plain_ != nullptr && at < bytes_ / granule_; ++at)
    report(GlobalRaces::record_of(plain_->read(place_ + at, plain_cta())), at, "read");
  auto& reads = warp_.cta->plain_reads();
  for (std::size_t at = 0; at < words_.size(); ++at) {
    const Record other = races_.read(words_[at], actor_of(warp_));
    if (other != 0 && !GlobalRaces::is_change(other)) {
      report(other, at, "read");
      continue;
    }
    const auto known = reads.find(&words_[at]);
    if (known != reads.end()) {
      if (known->second.other == 0) known->second.other = other;
    } else if (reads.size() < GlobalRaces::kMostPlainReads) {
      reads[&words_[at]] = {pc_of(warp_), warp_.index,
                            static_cast<std::size_t>(access_.thread_of(lane_)),
                            access_.address[lane_] + at * granule_, other};
    }
  }
}

/// The value that a store of the lane replaces, if strong reads may return it.
std::optional<GlobalRaces::Replaced> WatchedPlaces::replaced() const {
  GlobalRaces::Replaced replaced{.by = 0, .bytes = bytes_};
  if (words_.empty() || !races_.records_unfenced() || bytes_ > sizeof replaced.value) return {};
  copy_from_guest(replaced.value.data(), access_.pointer[lane_], bytes_);
  races_.describe_read(*stripe_, words_.front(), replaced);
  return replaced;
}

void WatchedPlaces::write(const std::byte* values) {
  if (plain_ != nullptr) write_plain(values);
  std::optional<GlobalRaces::Replaced> old = replaced();
  for (std::size_t at = 0; at < words_.size(); ++at) {
    const Record other = races_.before_write(words_[at], actor_of(warp_));
    if (other != 0 && !is_same(at, values)) report(other, at, "write");
    races_.write(*stripe_, words_[at], actor_of(warp_));
  }
  if (!old) return;
  old->by = words_.front().write;
  GlobalRaces::keep_replaced(*stripe_, access_.address[lane_], *old);
}

void WatchedPlaces::write_plain(const std::byte* values) {
  for (std::size_t at = 0; at < bytes_ / granule_; ++at) {
    const std::uint32_t other = plain_->write(place_ + at, plain_cta());
    if (other != 0 && !is_same(at, values)) report(GlobalRaces::record_of(other), at, "write");
  }
}

std::size_t WatchedPlaces::write_piece(std::size_t first, const std::byte* values) {
  const bool is_one_piece = is_active_ && races_.is_plain() && access_.global == kAllLanes &&
                            access_.buffer != nullptr &&
                            access_.pattern == LanePattern::kContiguous;
  if (!is_one_piece || first == kWarpSize) return 0;
  const std::uint64_t address = access_.address[first];
  GlobalBuffer* const buffer = writable_at(address);
  plain_ = buffer == nullptr ? nullptr : races_.plain_shadow_of(*buffer);
  if (plain_ == nullptr) return 0;
  const std::uint64_t to_next_stripe =
      GlobalRaces::kStripeBytes - address % GlobalRaces::kStripeBytes;
  const std::size_t lanes = std::min<std::size_t>(to_next_stripe / bytes_, kWarpSize - first);
  if (lanes == 0) return 0;
  hold(address);
  place_ = (address - buffer->base) >> races_.shift();
  if (plain_->write_all(place_, lanes * (bytes_ / granule_), plain_cta())) return lanes;
  for (lane_ = first; lane_ < first + lanes; ++lane_) {
    place_ = (access_.address[lane_] - buffer->base) >> races_.shift();
    write_plain(values + lane_ * bytes_);
  }
  return lanes;
}

void WatchedPlaces::read_only() {
  const std::size_t places = plain_ != nullptr ? bytes_ / granule_ : words_.size();
  Cta& cta = *warp_.cta;
  for (std::size_t at = 0; at < places; ++at) {
    const Record found = plain_ != nullptr ? GlobalRaces::record_of(plain_->writer(place_ + at))
                         : words_[at].write != 0 ? words_[at].write
                                                 : words_[at].change;
    if (found == 0 || cta.is_reported(HazardKind::kReadOnlyLoad, pc_of(warp_), -1)) continue;
    cta.report(HazardKind::kReadOnlyLoad, pc_of(warp_), -1,
               cta.launch().memory->describe(access_.address[lane_] + at * granule_) + " by " +
                   cta.names().thread(warp_.index, static_cast<int>(lane_)) + ", written by " +
                   cta_text(cta.launch(), GlobalRaces::cta_of(found)) +
                   "; a load without .nc (no __ldg, no const __restrict__) reads the new value");
  }
}

const std::byte* WatchedPlaces::old_value() {
  if (words_.empty() || stripe_->replaced.empty()) return nullptr;
  const GlobalRaces::Replaced* const old =
      races_.old_value(*stripe_, access_.address[lane_], bytes_, words_, actor_of(warp_));
  if (old == nullptr || !warp_.cta->scheduler().draws_old_value()) return nullptr;
  warp_.cta->made_history();
  if (races_.follows(old->by, actor_of(warp_))) warp_.cta->launch().unordered_read = pc_of(warp_);
  races_.read_old(*old, actor_of(warp_));
  return old->value.data();
}

void WatchedPlaces::see() {
  if (is_active_ && words_.empty() && buffer_->writable) races_.give_up();
  for (std::size_t at = 0; at < words_.size(); ++at) {
    warp_.cta->made_history();
    report(races_.see(*stripe_, words_[at], actor_of(warp_)), at, "read");
  }
}

void WatchedPlaces::store(const std::byte* values) {
  bool is_changed = false;
  if (races_.records_unfenced()) warp_.cta->made_history();
  std::optional<GlobalRaces::Replaced> old = replaced();
  for (std::size_t at = 0; at < words_.size(); ++at) {
    if (is_same(at, values)) continue;
    races_.note_late(words_[at], actor_of(warp_));
    races_.change(*stripe_, words_[at], actor_of(warp_), false);
    is_changed = true;
  }
  if (!old || !is_changed) return;
  old->by = words_.front().change;
  GlobalRaces::keep_replaced(*stripe_, access_.address[lane_], *old);
}

/// If the CTA read the location by a weak read before, allows this read although it may race,
/// because an atomic of the CTA now accesses the location, as in a compare-and-swap loop.
void WatchedPlaces::explain_read(const Word& word) {
  auto& reads = warp_.cta->plain_reads();
  const auto read = reads.find(&word);
  if (read == reads.end()) return;
  races_.explain(read->second.pc);
  reads.erase(read);
}

void WatchedPlaces::atomic(bool changed, bool accumulates, bool returns) {
  if (races_.records_unfenced()) warp_.cta->made_history();
  for (std::size_t at = 0; accumulates && at < words_.size(); ++at) {
    report(races_.before_change(words_[at], actor_of(warp_)), at, "atomic");
  }
  if (returns) see();
  for (GlobalRaces::Word& word : words_) {
    explain_read(word);
    if (!changed) continue;
    races_.note_late(word, actor_of(warp_));
    races_.change(*stripe_, word, actor_of(warp_), true);
  }
}

void WatchedPlaces::atomic_of_cta(bool changed) {
  for (std::size_t at = 0; at < words_.size(); ++at) {
    explain_read(words_[at]);
    if (!changed) continue;
    report(races_.before_write(words_[at], actor_of(warp_)), at, "atomic of the CTA's scope");
    races_.write(*stripe_, words_[at], actor_of(warp_));
  }
}

void note_global_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  WatchedPlaces places(warp, access, bytes);
  if (!places.is_active()) return;
  for_lanes<std::size_t>(places_of(access), [&](std::size_t lane) {
    places.enter(lane);
    places.read();
  });
}

void check_read_only_load(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  WatchedPlaces places(warp, access, bytes);
  if (!places.is_active()) return;
  for_lanes<std::size_t>(access.global, [&](std::size_t lane) {
    places.enter(lane);
    places.read_only();
  });
}

Hazard unordered_read(const LaunchContext& launch, const GlobalRaces::Unordered& unordered) {
  return race(launch, unordered.cta, unordered.read, "read");
}

void note_published(Warp& warp) {
  Cta& cta = *warp.cta;
  if (!cta.launch().check || !cta.launch().global_races.is_on()) return;
  cta.races().clocks().publish(warp.index);
  cta.made_history().fence(warp.index, cta.races().clocks().of(warp.index));
}

bool note_owner(const Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  StoreOwners* const owners = warp.cta->launch().owners;
  if (owners == nullptr || access.global == 0) return false;
  for_lanes<std::size_t>(access.global, [&](std::size_t lane) {
    owners->note(access.address[lane], bytes, warp.cta->number());
  });
  return access.local == 0;  // a slice does not store to shared memory
}

void require_still(Warp& warp, const LaneAccess& access) {
  const GlobalMemory& memory = *warp.cta->launch().memory;
  bool changes = access.shared != 0;
  for_lanes<std::size_t>(access.global, [&](std::size_t lane) {
    changes = changes || memory.find(access.address[lane])->writable;
  });
  if (!changes) return;
  warp.cta->fail(HazardKind::kInvalidInstruction, static_cast<int>(warp.pc), -1,
                 "the addresses of stores depend on memory that kernels may write");
}

}  // namespace evo::ptx
