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

std::string cta_text(const LaunchContext& launch, std::uint64_t cta) {
  const auto& grid = launch.grid;
  return "CTA (" + std::to_string(cta % grid[0]) + "," + std::to_string(cta / grid[0] % grid[1]) +
         "," + std::to_string(cta / grid[0] / grid[1]) + ")";
}

Hazard race(Cta& cta, const GlobalRaces::PlainRead& access, const char* verb) {
  return {HazardKind::kGlobalRace, access.pc, -1,
          std::string(verb) + " of " + cta.launch().memory->describe(access.address) + " by " +
              cta.names().thread(access.warp, static_cast<int>(access.lane)) +
              " is not ordered after what " +
              cta_text(cta.launch(), GlobalRaces::cta_of(access.other)) +
              " did there in this launch (its fence, then an atomic or volatile access here "
              "that sees it)",
          cta.index()};
}

void report_race(Cta& cta, const GlobalRaces::PlainRead& access, const char* verb) {
  if (cta.is_reported(HazardKind::kGlobalRace, access.pc, -1)) return;
  cta.launch().hazards->add(race(cta, access, verb));
}

/// Each shadow word and lane, with the offset of the word's bytes in the access.
template <typename F>
void for_words(Warp& warp, const LaneAccess& access, std::uint32_t bytes, F&& visit) {
  const LaunchContext& launch = warp.cta->launch();
  GlobalRaces& races = warp.cta->launch().global_races;
  const std::uint32_t granule = 1U << races.shift();
  GlobalBuffer* buffer = warp.cta->buffer_cache()[warp.pc];
  for_lanes<std::size_t>(access.global, [&](std::size_t lane) {
    const std::uint64_t address = access.address[lane];
    if (buffer == nullptr || !buffer->contains(address, bytes))
      buffer = launch.memory->find(address);
    if (!buffer->writable) return;  // nobody writes there in this launch
    Word* words = races.shadow_of(*buffer);
    if (words == nullptr) {
      // Flags in memory that is not watched order everything.
      warp.cta->see(races.now());
      return;
    }
    words += (address - buffer->base) >> races.shift();
    for (std::uint32_t at = 0; at < bytes; at += granule) visit(*words++, lane, at);
  });
}

/// The same; what `conflict` says of each is reported, where it is not 0.
template <typename F>
void for_words(Warp& warp, const LaneAccess& access, std::uint32_t bytes, const char* verb,
               F&& conflict) {
  for_words(warp, access, bytes, [&](Word& word, std::size_t lane, std::uint32_t at) {
    const Record other = conflict(word, lane, at);
    if (other == 0) return;
    report_race(*warp.cta, {pc_of(warp), warp.index, lane, access.address[lane] + at, other}, verb);
  });
}

/// Of memory that no kernel may write, which most accesses go to, there is nothing to note.
bool is_checked(const Warp& warp, const LaneAccess& access) {
  const bool is_read_only = access.buffer != nullptr && !access.buffer->writable;
  return access.global != 0 && !is_read_only && warp.cta->launch().check;
}

}  // namespace

void note_global_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  if (!is_checked(warp, access)) return;
  Cta& cta = *warp.cta;
  for_words(warp, access, bytes, "read", [&](Word& word, std::size_t lane, std::uint32_t at) {
    const Record other = cta.launch().global_races.read(word, cta.number(), cta.seen());
    if (other != 0 && !GlobalRaces::is_change(other)) return other;
    auto& reads = cta.plain_reads();
    const auto known = reads.find(&word);
    if (known != reads.end()) {
      if (known->second.other == 0) known->second.other = other;
    } else if (reads.size() < GlobalRaces::kMostPlainReads) {
      reads[&word] = {pc_of(warp), warp.index, lane, access.address[lane] + at, other};
    }
    return Record{0};
  });
}

void check_read_only_load(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  if (!is_checked(warp, access)) return;
  Cta& cta = *warp.cta;
  for_words(warp, access, bytes, [&](Word& word, std::size_t lane, std::uint32_t at) {
    const Record write = word.write.load();
    const Record found = write != 0 ? write : word.change.load();
    if (found == 0 || cta.is_reported(HazardKind::kReadOnlyLoad, pc_of(warp), -1)) return;
    cta.report(HazardKind::kReadOnlyLoad, pc_of(warp), -1,
               cta.launch().memory->describe(access.address[lane] + at) + " by " +
                   cta.names().thread(warp.index, static_cast<int>(lane)) + ", written by " +
                   cta_text(cta.launch(), GlobalRaces::cta_of(found)) +
                   "; a load without .nc (no __ldg, no const __restrict__) sees it");
  });
}

void suspect_plain_reads(Cta& cta) {
  GlobalRaces& races = cta.launch().global_races;
  for (const auto& entry : cta.plain_reads()) {
    const GlobalRaces::PlainRead& read = entry.second;
    if (read.other != 0 && !races.is_suspected(read.pc)) races.suspect(race(cta, read, "read"));
  }
}

void note_global_write(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                       const std::byte* values) {
  if (!is_checked(warp, access)) return;
  Cta& cta = *warp.cta;
  const std::uint32_t granule = std::min(1U << cta.launch().global_races.shift(), bytes);
  for_words(warp, access, bytes, "write", [&](Word& word, std::size_t lane, std::uint32_t at) {
    const Record other = cta.launch().global_races.before_write(word, cta.number(), cta.seen());
    if (other == 0) return other;
    std::byte old[8];
    copy_from_guest(old, access.pointer[lane] + at, granule);
    // What stays as it is harms nobody.
    return std::memcmp(old, values + lane * bytes + at, granule) != 0 ? other : Record{0};
  });
}

void note_global_written(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  if (!is_checked(warp, access)) return;
  Cta& cta = *warp.cta;
  for_words(warp, access, bytes, "write", [&](Word& word, std::size_t, std::uint32_t) {
    cta.launch().global_races.wrote(word, cta.number());
    return Record{0};
  });
}

void note_global_change(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                        bool accumulates) {
  if (!is_checked(warp, access)) return;
  Cta& cta = *warp.cta;
  GlobalRaces& races = cta.launch().global_races;
  const std::uint32_t time = races.next();
  note_global_seen(warp, access, bytes);
  for_words(warp, access, bytes, "atomic", [&](Word& word, std::size_t, std::uint32_t) {
    if (const auto read = cta.plain_reads().find(&word); read != cta.plain_reads().end()) {
      races.explain(read->second.pc);
      cta.plain_reads().erase(read);
    }
    return races.change(word, cta.number(), cta.seen(), time, accumulates);
  });
}

void note_global_seen(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  if (!is_checked(warp, access)) return;
  Cta& cta = *warp.cta;
  for_words(warp, access, bytes, "read", [&](Word& word, std::size_t, std::uint32_t) {
    cta.see(GlobalRaces::seen_at(word, cta.number()));
    return Record{0};
  });
}

void note_published(const Warp& warp) {
  const Cta& cta = *warp.cta;
  if (cta.launch().check) cta.launch().global_races.publish(cta.number());
}

bool note_owner(const Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  StoreOwners* const owners = warp.cta->launch().owners;
  if (owners == nullptr || access.global == 0) return false;
  for_lanes<std::size_t>(access.global, [&](std::size_t lane) {
    owners->note(access.address[lane], bytes, warp.cta->number());
  });
  return access.global == warp.exec;
}

void require_still(Warp& warp, const LaneAccess& access) {
  const GlobalMemory& memory = *warp.cta->launch().memory;
  bool changes = access.shared != 0;
  for_lanes<std::size_t>(access.global, [&](std::size_t lane) {
    changes = changes || memory.find(access.address[lane])->writable;
  });
  if (!changes) return;
  warp.cta->fail(HazardKind::kInvalidInstruction, static_cast<int>(warp.pc), -1,
                 "where a kernel stores depends on memory that kernels may write");
}

}  // namespace evo::ptx
