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
/// access that is not ordered behind what another CTA did there, whatever the schedule was.
///
/// Time is what the warps of each CTA count. A shadow word for every granule of a buffer holds who
/// wrote, changed (atomics, strong stores) and read it last, and when. What warp v of CTA A wrote
/// at t is ordered before what warp w of CTA B does when
///   1. A executed a fence (of the GPU or the system) or a release, behind t by a barrier or in v,
///   2. behind that A changed a place, by an atomic or a strong store, and
///   3. B saw that change, or one by an atomic that went on from it, in w or before w by a barrier;
/// or by way of a third CTA that saw a change of A before its own (see CtaHistory). What A changed
/// needs no fence where B saw that very change; a plain store that B saw by a strong read is one.
/// Fences of B are not asked for. An atomic or a strong store that leaves a place as it was tells
/// nobody anything.
///
/// A plain read of what others change by atomics is a guess, as compare-and-swap loops begin with,
/// where an atomic of the same CTA comes to that place later. Strong reads, and atomics that find
/// what others read, are not looked at; nor is memory beyond kMostShadow.
///
/// A word of memory and its shadow change together: under the lock of its stripe.
class GlobalRaces {
 public:
  /// The host's memory for the shadows of one launch.
  static constexpr std::uint64_t kMostShadow = 1ULL << 30;

  /// Who did something, and when: CTA 26 bits, warp 5, by a change 1, time 32. 0: nobody.
  using Record = std::uint64_t;
  static constexpr std::uint64_t kStripeBytes = 128;  ///< of places that share a lock
  struct Word {
    Record write;
    Record change;
    Record read;
    Record other_read;  ///< the last one by another CTA than that of `read`
  };

  /// A plain read, and the change by another CTA that it is not ordered behind, or 0.
  struct PlainRead {
    int pc = 0;
    int warp = 0;
    std::size_t lane = 0;
    std::uint64_t address = 0;
    Record other = 0;
  };
  /// Of one CTA, by place; of more places than this nothing is kept.
  using PlainReads = std::unordered_map<const Word*, PlainRead>;
  static constexpr std::size_t kMostPlainReads = 1024;

  /// The lock of some places, and the changes of these that say something.
  struct alignas(64) Stripe {
    SpinLock lock;
    std::unordered_map<const Word*, ReleaseChain*> heads;
  };

  /// A warp of a CTA, now. The history is made when there is something to note in it.
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

  /// Before the first CTA. `granule`: bytes of a shadow word, the narrowest access of the kernel.
  /// `has_changes`: the kernel has atomics or strong accesses.
  void start(std::uint64_t ctas, int warps, int granule, bool has_changes);

  [[nodiscard]] bool is_on() const { return is_on_; }
  /// Nothing can order the CTAs: a place has a PlainShadow in the place of a word.
  [[nodiscard]] bool is_plain() const { return !has_changes_; }
  [[nodiscard]] int shift() const { return shift_; }
  /// The shadow of a buffer that kernels may write; nothing where it is not watched.
  [[nodiscard]] Word* shadow_of(GlobalBuffer& buffer);
  /// The same where is_plain().
  [[nodiscard]] PlainShadow* plain_shadow_of(GlobalBuffer& buffer);
  /// Places less than 128 bytes apart mostly have one stripe; those of one access always do.
  [[nodiscard]] Stripe& stripe_of(std::uint64_t address) {
    return (*stripes_)[(address / kStripeBytes) % kStripes];
  }
  /// Of a CTA that has something to note.
  [[nodiscard]] CtaHistory& history_of(std::uint64_t cta);
  /// Flags where nobody watches may order everything: nothing more is reported.
  void give_up() { gave_up_.store(true, std::memory_order_relaxed); }

  /// The record of a CTA, by the number that PlainShadow gives it.
  [[nodiscard]] static Record record_of(std::uint32_t cta) { return Record{cta} << kCtaShift; }
  [[nodiscard]] static std::uint64_t cta_of(Record record) { return (record >> kCtaShift) - 1; }
  /// By an atomic or a strong store.
  [[nodiscard]] static bool is_change(Record record) { return (record & kChange) != 0; }

  // Accesses to a word, under the lock of its stripe. Each gives what the access is not ordered
  // behind, or 0.
  [[nodiscard]] Record read(Word& word, const Actor& actor);
  [[nodiscard]] Record before_write(const Word& word, const Actor& actor);
  /// Of an atomic whose result depends on what was there.
  [[nodiscard]] Record before_change(const Word& word, const Actor& actor) {
    return is_ordered(word.write, actor) ? 0 : word.write;
  }
  void write(Stripe& stripe, Word& word, const Actor& actor);
  /// A strong store, or an atomic that went on from what was there.
  void change(Stripe& stripe, Word& word, const Actor& actor, bool goes_on);
  /// A strong read, or an atomic before it changes the word; `actor` has a history.
  void see(const Stripe& stripe, const Word& word, const Actor& actor);

  /// A change by `actor` is not ordered behind plain reads: notes them.
  void note_late(const Word& word, const Actor& actor);

  /// An atomic came to what the instruction at `pc` had read: its reads are guesses.
  void explain(int pc);
  /// The plain reads of a CTA that ended, to which no atomic of it came.
  void leave(std::uint64_t cta, PlainReads reads);
  /// A plain read that is not ordered with a change by another CTA.
  struct Unordered {
    std::uint64_t cta = 0;
    PlainRead read;
  };
  /// After the last CTA: those that no atomic explained, one for each instruction.
  [[nodiscard]] std::vector<Unordered> unexplained();

 private:
  static constexpr int kCtaShift = 38;
  static constexpr int kWarpShift = 33;
  static constexpr Record kChange = Record{1} << 32;  ///< by an atomic or a strong store
  static constexpr std::uint64_t kMostCtas = (1ULL << 26) - 2;
  static constexpr std::size_t kStripes = 256;
  static constexpr std::size_t kMostChains = 1 << 20;
  static constexpr std::size_t kMostLate = 1 << 16;
  static constexpr std::size_t kMostLeft = 1 << 20;  ///< plain reads of CTAs that ended

  [[nodiscard]] static Record record(const Actor& actor) {
    return (actor.cta + 1) << kCtaShift | static_cast<Record>(actor.warp) << kWarpShift |
           actor.clock[static_cast<std::size_t>(actor.warp)];
  }
  /// `record`: in its word.
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
  /// The memory of the buffer's shadow; makes it by `made` when there is none.
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
  std::mutex mutex_;  ///< of all below but the stripes
  std::uint64_t shadow_bytes_ = 0;
  std::vector<Shadow> shadows_;
  std::deque<ReleaseChain> chains_;
  std::unordered_map<std::uint64_t, std::unique_ptr<CtaHistory>> histories_;
  std::unique_ptr<std::array<Stripe, kStripes>> stripes_;
};

}  // namespace evo::ptx
