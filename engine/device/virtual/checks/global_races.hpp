#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/cta_history.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/plain_shadow.hpp"
#include "engine/device/virtual/checks/spin_lock.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// Finds races between the CTAs of one launch in the global memory that kernels may write: an
/// access that is not ordered after another CTA's access to the same place. The result does not
/// depend on the schedule.
///
/// Each warp of a CTA counts its own time. A shadow word for every granule of a buffer records the
/// last write, change (atomic or strong store) and read: the warp and the time. A write by warp v
/// of CTA A at time t is ordered before an access by warp w of CTA B if
///   1. A executed a fence (of GPU or system scope) or a release after t, in v or ordered by a
///      barrier,
///   2. after that A changed a place, by an atomic or a strong store, and
///   3. B saw that change, or the result of an atomic that continued it, in w or before w by a
///      barrier;
/// or through a third CTA that saw a change of A before its own change (see CtaHistory). The
/// changed place itself needs no fence if B saw exactly that change; a plain store seen by a strong
/// read counts as a change. B needs no fence. An atomic or a strong store that does not alter the
/// value orders nothing.
///
/// Compare-and-swap loops begin with a plain read of a place that others change by atomics. Such a
/// read is called a guess and allowed if an atomic of the same CTA accesses that place later.
/// Strong reads, and atomics on places that others read, are not checked; nor is memory beyond
/// kMostShadow.
///
/// A word of memory and its shadow are updated together under the lock of its stripe.
class GlobalRaces {
 public:
  /// Limit of host memory for the shadows of one launch.
  static constexpr std::uint64_t kMostShadow = 1ULL << 30;

  /// The warp and time of an access. Bits: CTA 26, warp 5, 1 if the access changed the value,
  /// time 32. 0: no access.
  using Record = std::uint64_t;
  static constexpr std::uint64_t kStripeBytes = 128;  ///< number of places that share a lock
  struct Word {
    Record write;
    Record change;
    Record read;
    Record other_read;  ///< the last read by another CTA than that of `read`
  };

  /// A plain read, and the change by another CTA that is not ordered before it, or 0.
  struct PlainRead {
    int pc = 0;
    int warp = 0;
    std::size_t lane = 0;
    std::uint64_t address = 0;
    Record other = 0;
  };
  /// For one CTA, by place; beyond this number of places nothing is kept.
  using PlainReads = std::unordered_map<const Word*, PlainRead>;
  static constexpr std::size_t kMostPlainReads = 1024;

  /// The lock of some places, and their changes that publish something.
  struct alignas(64) Stripe {
    SpinLock lock;
    std::unordered_map<const Word*, ReleaseChain*> heads;
  };

  /// The present moment of a warp of a CTA. The history is created when there is something to
  /// record.
  struct Actor {
    std::uint64_t cta;
    int warp;
    const VectorClock& clock;
    CtaHistory* history;
  };

  GlobalRaces() = default;
  GlobalRaces(const GlobalRaces&) = delete;
  GlobalRaces& operator=(const GlobalRaces&) = delete;
  ~GlobalRaces();

  /// Call it before the first CTA. `granule`: bytes per shadow word, the narrowest access of the
  /// kernel. `has_changes`: the kernel has atomics or strong accesses.
  void start(std::uint64_t ctas, int warps, int granule, bool has_changes);

  [[nodiscard]] bool is_on() const { return is_on_; }
  /// True if nothing can order the CTAs; then PlainShadow replaces the shadow words.
  [[nodiscard]] bool is_plain() const { return !has_changes_; }
  [[nodiscard]] int shift() const { return shift_; }
  /// The shadow of a buffer that kernels may write; null if it is not checked.
  [[nodiscard]] Word* shadow_of(GlobalBuffer& buffer);
  /// The same if is_plain().
  [[nodiscard]] PlainShadow* plain_shadow_of(GlobalBuffer& buffer);
  /// Places less than 128 bytes apart usually share one stripe; those of one access always do.
  [[nodiscard]] Stripe& stripe_of(std::uint64_t address) {
    return (*stripes_)[(address / kStripeBytes) % kStripes];
  }
  /// For a CTA that has something to record.
  [[nodiscard]] CtaHistory& history_of(std::uint64_t cta);
  /// Flags in memory that is not checked may order everything, so no more races are reported.
  void give_up() { gave_up_.store(true, std::memory_order_relaxed); }

  /// The record of a CTA, by its number in PlainShadow.
  [[nodiscard]] static Record record_of(std::uint32_t cta) { return Record{cta} << kCtaShift; }
  [[nodiscard]] static std::uint64_t cta_of(Record record) { return (record >> kCtaShift) - 1; }
  /// By an atomic or a strong store.
  [[nodiscard]] static bool is_change(Record record) { return (record & kChange) != 0; }

  // Accesses to a word, under the lock of its stripe. Each returns the conflicting access, or 0.
  [[nodiscard]] Record read(Word& word, const Actor& actor);
  [[nodiscard]] Record before_write(const Word& word, const Actor& actor);
  /// For an atomic whose result depends on the previous value.
  [[nodiscard]] Record before_change(const Word& word, const Actor& actor) {
    return is_ordered(word.write, actor) ? 0 : word.write;
  }
  void write(Stripe& stripe, Word& word, const Actor& actor);
  /// A strong store, or an atomic that continues the previous change.
  void change(Stripe& stripe, Word& word, const Actor& actor, bool goes_on);
  /// A strong read, or an atomic before it changes the word; `actor` has a history.
  void see(const Stripe& stripe, const Word& word, const Actor& actor);

  /// Records the plain reads before which a change by `actor` is not ordered.
  void note_late(const Word& word, const Actor& actor);

  /// An atomic accesses a place that the instruction at `pc` had read, so those reads are guesses.
  void explain(int pc);
  /// The plain reads of a finished CTA at places that its atomics did not access.
  void leave(std::uint64_t cta, PlainReads reads);
  /// A plain read that is not ordered with a change by another CTA.
  struct Unordered {
    std::uint64_t cta = 0;
    PlainRead read;
  };
  /// Call it after the last CTA: returns the reads that no atomic explained, one per instruction.
  [[nodiscard]] std::vector<Unordered> unexplained();

 private:
  static constexpr int kCtaShift = 38;
  static constexpr int kWarpShift = 33;
  static constexpr Record kChange = Record{1} << 32;  ///< by an atomic or a strong store
  static constexpr std::uint64_t kMostCtas = (1ULL << 26) - 2;
  static constexpr std::size_t kStripes = 256;
  static constexpr std::size_t kMostChains = 1 << 20;
  static constexpr std::size_t kMostLate = 1 << 16;
  static constexpr std::size_t kMostLeft = 1 << 20;  ///< plain reads of finished CTAs

  [[nodiscard]] static Record record(const Actor& actor) {
    return (actor.cta + 1) << kCtaShift | static_cast<Record>(actor.warp) << kWarpShift |
           actor.clock[static_cast<std::size_t>(actor.warp)];
  }
  /// `record`: the record in its word.
  [[nodiscard]] bool is_ordered(const Record& record, const Actor& actor) const {
    return record == 0 || cta_of(record) == actor.cta || is_known(record, actor);
  }
  [[nodiscard]] bool is_known(const Record& record, const Actor& actor) const;
  [[nodiscard]] ReleaseChain& new_chain();

  struct Freed {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Shadow {
    GlobalBuffer* buffer = nullptr;
    std::unique_ptr<Word, Freed> words;
    std::unique_ptr<PlainShadow> plain;
  };
  /// The memory of the buffer's shadow; creates it with `made` if there is none.
  template <typename Made>
  [[nodiscard]] void* shadow_by(GlobalBuffer& buffer, const Made& made);

  bool is_on_ = false;
  bool has_changes_ = false;
  int warps_ = 0;
  int shift_ = 2;
  std::atomic<bool> gave_up_{false};
  std::mutex guess_mutex_;
  std::set<int> explained_;
  std::map<int, Unordered> suspected_;                            ///< by instruction
  std::map<std::pair<const Word*, std::uint64_t>, Record> late_;  ///< by place and reading CTA
  std::unordered_map<std::uint64_t, PlainReads> left_;            ///< by CTA
  std::size_t left_count_ = 0;
  std::mutex mutex_;  ///< protects everything below except the stripes
  std::uint64_t shadow_bytes_ = 0;
  std::vector<Shadow> shadows_;
  std::deque<ReleaseChain> chains_;
  std::unordered_map<std::uint64_t, std::unique_ptr<CtaHistory>> histories_;
  std::unique_ptr<std::array<Stripe, kStripes>> stripes_;
};

}  // namespace evo::ptx
