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

/// Finds races between the CTAs of one launch in global memory that kernels may write: accesses
/// that are not ordered after another CTA's access to the same place. The reported races do not
/// depend on the schedule.
///
/// Each warp of a CTA counts its own time. A shadow word for every granule of a buffer records the
/// warp and the time of the last write, the last change (atomic or strong store) and the last read.
/// A write by warp v of CTA A at time t is ordered before an access by warp w of CTA B if
///   1. A executed a fence (of GPU or system scope) or a release after t, in v or ordered by a
///      barrier,
///   2. after the fence or release, A changed a place, by an atomic or a strong store, and
///   3. B saw the change, or the result of an atomic that continued the change, in w or before w by
///      a barrier.
/// The write is also ordered if a third CTA saw a change of A before its own change, and B saw the
/// change of the third CTA (see CtaHistory). Accesses to the changed place itself need no fence if
/// B saw exactly that change; a plain store that a strong read sees counts as a change. B needs no
/// fence. An atomic or a strong store that does not alter the value orders nothing.
///
/// Compare-and-swap loops begin with a plain read of a place that others change by atomics. A plain
/// read is called a guess, and is allowed, if an atomic of the same CTA accesses the place later.
/// Strong reads, atomics on places that other CTAs read, and memory beyond kMostShadow are not
/// checked.
///
/// A word of memory and its shadow word are updated together under the lock of the word's stripe.
class GlobalRaces {
 public:
  /// Limit of host memory for the shadows of one launch.
  static constexpr std::uint64_t kMostShadow = 1ULL << 30;

  /// The warp and the time of an access. Bits: 26 for the CTA, 5 for the warp, 1 that is set if the
  /// access changed the value, 32 for the time. A record of 0 means no access.
  using Record = std::uint64_t;
  static constexpr std::uint64_t kStripeBytes = 128;  ///< bytes whose places share a lock
  struct Word {
    Record write;
    Record change;
    Record read;
    Record other_read;  ///< last read by a CTA other than that of `read`
  };

  /// A plain read, and a change by another CTA that is not ordered before the read, or 0.
  struct PlainRead {
    int pc = 0;
    int warp = 0;
    std::size_t lane = 0;
    std::uint64_t address = 0;
    Record other = 0;
  };
  /// The plain reads of one CTA by place; at most kMostPlainReads places are recorded.
  using PlainReads = std::unordered_map<const Word*, PlainRead>;
  static constexpr std::size_t kMostPlainReads = 1024;

  /// The lock of the places of a stripe, and the changes of these places that publish accesses.
  struct alignas(64) Stripe {
    SpinLock lock;
    std::unordered_map<const Word*, ReleaseChain*> heads;
  };

  /// A warp of a CTA at its current time. The history is null until something must be recorded.
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

  /// Must be called before the first CTA runs. `granule`: bytes per shadow word, which is the size
  /// of the narrowest access of the kernel. `has_changes`: the kernel has atomics or strong
  /// accesses.
  void start(std::uint64_t ctas, int warps, int granule, bool has_changes);

  [[nodiscard]] bool is_on() const { return is_on_; }
  /// True if no instruction of the kernel orders CTAs, so that PlainShadow replaces the shadow
  /// words.
  [[nodiscard]] bool is_plain() const { return !has_changes_; }
  [[nodiscard]] int shift() const { return shift_; }
  /// The shadow words of a buffer that kernels may write; null if the buffer is not checked.
  [[nodiscard]] Word* shadow_of(GlobalBuffer& buffer);
  /// The shadow of a buffer if is_plain(); null if the buffer is not checked.
  [[nodiscard]] PlainShadow* plain_shadow_of(GlobalBuffer& buffer);
  /// The stripe of an address. All places of one access by a lane share a stripe.
  [[nodiscard]] Stripe& stripe_of(std::uint64_t address) {
    return (*stripes_)[(address / kStripeBytes) % kStripes];
  }
  /// The history of a CTA, which is created when needed.
  [[nodiscard]] CtaHistory& history_of(std::uint64_t cta);
  /// Stops reporting races, because flags in memory that is not checked may order accesses.
  void give_up() { gave_up_.store(true, std::memory_order_relaxed); }

  /// A record of an access by a CTA, given as its number in PlainShadow.
  [[nodiscard]] static Record record_of(std::uint32_t cta) { return Record{cta} << kCtaShift; }
  [[nodiscard]] static std::uint64_t cta_of(Record record) { return (record >> kCtaShift) - 1; }
  /// True if the recorded access is an atomic or a strong store.
  [[nodiscard]] static bool is_change(Record record) { return (record & kChange) != 0; }

  // Accesses to a word, under the lock of its stripe. The functions return the conflicting access,
  // or 0.
  [[nodiscard]] Record read(Word& word, const Actor& actor);
  [[nodiscard]] Record before_write(const Word& word, const Actor& actor);
  /// Checks an atomic whose result depends on the previous value.
  [[nodiscard]] Record before_change(const Word& word, const Actor& actor) {
    return is_ordered(word.write, actor) ? 0 : word.write;
  }
  void write(Stripe& stripe, Word& word, const Actor& actor);
  /// Records a strong store, or an atomic; `goes_on`: an atomic that continues the previous change.
  void change(Stripe& stripe, Word& word, const Actor& actor, bool goes_on);
  /// Records that a strong read or an atomic sees the word's value. `actor` must have a history.
  void see(const Stripe& stripe, const Word& word, const Actor& actor);

  /// Records the plain reads by other CTAs that a change by `actor` is not ordered with.
  void note_late(const Word& word, const Actor& actor);

  /// Marks the plain reads by the instruction at `pc` as guesses, because an atomic of the same CTA
  /// accessed a place that it had read.
  void explain(int pc);
  /// Stores the plain reads of a finished CTA at places that its atomics did not access.
  void leave(std::uint64_t cta, PlainReads reads);
  /// A plain read that is not ordered with a change by another CTA, for a report.
  struct Unordered {
    std::uint64_t cta = 0;
    PlainRead read;
  };
  /// Must be called after the last CTA: returns the unordered plain reads that are not guesses, one
  /// for each instruction.
  [[nodiscard]] std::vector<Unordered> unexplained();

 private:
  static constexpr int kCtaShift = 38;
  static constexpr int kWarpShift = 33;
  static constexpr Record kChange = Record{1} << 32;  ///< the access is an atomic or a strong store
  static constexpr std::uint64_t kMostCtas = (1ULL << 26) - 2;
  static constexpr std::size_t kStripes = 256;
  static constexpr std::size_t kMostChains = 1 << 20;
  static constexpr std::size_t kMostLate = 1 << 16;
  static constexpr std::size_t kMostLeft = 1 << 20;  ///< limit of plain reads of finished CTAs

  [[nodiscard]] static Record record(const Actor& actor) {
    return (actor.cta + 1) << kCtaShift | static_cast<Record>(actor.warp) << kWarpShift |
           actor.clock[static_cast<std::size_t>(actor.warp)];
  }
  /// True if the recorded access is ordered before `actor`. `record`: a member of a shadow word.
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
  /// The memory of the buffer's shadow, which `made` creates if it does not exist.
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
