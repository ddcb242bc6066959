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
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/cta_history.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/plain_shadow.hpp"
#include "engine/device/virtual/checks/spin_lock.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// Finds races in global memory between the CTAs of one launch. A race is an access to memory that
/// kernels may write, if the access is not ordered after a conflicting access of another CTA to the
/// same location. Apart from the exceptions below, the reported races do not depend on the order in
/// which CTAs run. "Weak" and "strong" mean the same as in the memory consistency model of PTX; a
/// strong write is an atomic or a strong store.
///
/// Each warp of a CTA counts its own time. A shadow word for every granule of a buffer (see
/// start()) records the warp and the time of the last weak write, the last strong write and the
/// last read. A write by warp v of CTA A at time t is ordered before an access by warp w of CTA B
/// if:
///   1. After the write, CTA A executes a fence (of GPU or system scope) or a release, in warp v or
///      in a warp that a barrier orders after v.
///   2. After the fence or release, CTA A executes a strong write to some location.
///   3. CTA B, which needs no fence, reads the value of the strong write, or of an atomic that
///      modified the value, by a strong read or an atomic, in warp w or in a warp that a barrier
///      orders before w.
/// The write of CTA A is also ordered if a third CTA reads the value of A before its own strong
/// write, and CTA B reads the value of the third CTA (see CtaHistory). Accesses to the location of
/// the strong write itself need no fence if CTA B read exactly the value of the strong write; a
/// weak store whose value a strong read returns counts as a strong write here. A strong write that
/// does not alter the value orders nothing. A strong read of a weak store is a race only if CTA B
/// read a later strong write of CTA A before, and CTA A executed no fence before the weak store:
/// the fence between the weak store and the strong write is missing. Otherwise, the weak store may
/// be a flag for which CTA B waits.
///
/// Compare-and-swap loops begin with a weak read of a location that other CTAs modify by atomics.
/// GlobalRaces calls a weak read a guess, and allows it, if an atomic of the same CTA accesses the
/// location later. A weak write that leaves the value in memory unchanged is not reported. A strong
/// store, an exchange or a compare-and-swap is not compared with a weak write that ran earlier,
/// except for the missing fence above; if the weak write runs later, the race is reported. Not
/// checked are memory beyond kMostShadow and launches of more than kMostCtas CTAs. Weak reads are
/// recorded up to the limits kMostPlainReads, kMostLate and kMostLeft.
///
/// A word of memory and its shadow word are updated together under the lock of the word's stripe.
class GlobalRaces {
 public:
  /// Limit of host memory for the shadow words of one launch.
  static constexpr std::uint64_t kMostShadow = 1ULL << 30;

  /// A recorded access: its CTA, warp and time. The highest 26 bits of a record are the CTA's index
  /// plus 1, and the next 5 bits are the warp; the next bit is set for a strong write, and the
  /// lowest 32 bits are the time. The record 0 means that there was no access.
  using Record = std::uint64_t;
  static constexpr std::uint64_t kStripeBytes = 128;  ///< adjacent bytes that share a lock
  struct Word {
    Record write;
    Record change;
    Record read;
    Record other_read;  ///< last read by a CTA other than that of `read`
  };

  /// A weak read of a CTA, and the record of a strong write by another CTA that is not ordered with
  /// the read (0: none).
  struct PlainRead {
    int pc = 0;
    int warp = 0;
    std::size_t lane = 0;
    std::uint64_t address = 0;
    Record other = 0;
  };
  /// The weak reads of one CTA by location; at most kMostPlainReads locations are recorded.
  using PlainReads = std::unordered_map<const Word*, PlainRead>;
  static constexpr std::size_t kMostPlainReads = 1024;

  /// The value that the store `by` replaced, and what a read of this value acquires: the first
  /// `length` releases of `chain`.
  struct Replaced {
    Record by = 0;
    std::uint32_t bytes = 0;
    std::array<std::byte, 16> value{};
    const ReleaseChain* chain = nullptr;
    std::uint32_t length = 0;
  };

  /// The lock for the locations in a stripe of memory, and the release chains of these locations.
  struct alignas(64) Stripe {
    SpinLock lock;
    std::unordered_map<const Word*, ReleaseChain*> heads;
    std::unordered_map<std::uint64_t, Replaced> replaced;  ///< by address of the store
  };

  /// The warp that makes an access, with its CTA and its current time. The member `history` is null
  /// until an acquisition or a release must be recorded.
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

  /// Prepares the checks of a launch; must be called before the first CTA runs. `granule`: bytes
  /// per shadow word (Program::global_granule). `has_changes`: see Program::has_changes.
  /// `has_strong_reads`: see Program::reads_signals.
  void start(std::uint64_t ctas, int warps, int granule, bool has_changes, bool has_strong_reads);

  [[nodiscard]] bool is_on() const { return is_on_; }
  /// True if no instruction of the kernel orders its CTAs, because the kernel has no strong
  /// accesses to global memory and no clusters; a PlainShadow then replaces the shadow words.
  [[nodiscard]] bool is_plain() const { return !has_changes_; }
  /// Whether strong writes without an earlier fence are recorded, too (CtaHistory::follows).
  [[nodiscard]] bool records_unfenced() const { return has_strong_reads_; }
  [[nodiscard]] int shift() const { return shift_; }
  /// The shadow words of a buffer that kernels may write; null if the buffer is not checked.
  [[nodiscard]] Word* shadow_of(GlobalBuffer& buffer);
  /// The PlainShadow of a buffer, for kernels without strong accesses; null if the buffer is not
  /// checked.
  [[nodiscard]] PlainShadow* plain_shadow_of(GlobalBuffer& buffer);
  /// The stripe that contains an address; all bytes that one lane accesses at once are in one
  /// stripe.
  [[nodiscard]] Stripe& stripe_of(std::uint64_t address) {
    return (*stripes_)[(address / kStripeBytes) % kStripes];
  }
  /// Makes an empty chain, which lives until the launch ends.
  [[nodiscard]] ReleaseChain& new_chain();
  /// The history of a CTA; creates the history if it does not exist.
  [[nodiscard]] CtaHistory& history_of(std::uint64_t cta);
  /// Stops reporting races. Called if releases cannot be recorded, because these may order the
  /// CTAs' accesses: for flags in memory that is not checked, and beyond kMostChains chains.
  void give_up() { gave_up_.store(true, std::memory_order_relaxed); }
  /// Limit of the acquisitions and releases that all CTAs of a launch record, which take about
  /// 90 bytes each.
  static constexpr std::uint64_t kMostRecorded = 20'000'000;
  /// Counts acquisitions and releases. Returns false if there are more than kMostRecorded.
  [[nodiscard]] bool note_recorded(std::uint64_t more) {
    return (recorded_ += more) <= kMostRecorded;
  }

  /// Makes a record from `cta`, the index of a CTA plus 1, which is all that PlainShadow stores.
  [[nodiscard]] static Record record_of(std::uint32_t cta) { return Record{cta} << kCtaShift; }
  [[nodiscard]] static std::uint64_t cta_of(Record record) { return (record >> kCtaShift) - 1; }
  /// True if the recorded access is a strong write.
  [[nodiscard]] static bool is_change(Record record) { return (record & kChange) != 0; }

  // The following functions check and record accesses to a word; the caller must hold the lock of
  // the word's stripe. The functions that return a Record return the record of the conflicting
  // access, or 0.
  [[nodiscard]] Record read(Word& word, const Actor& actor);
  [[nodiscard]] Record before_write(const Word& word, const Actor& actor);
  /// Checks an atomic whose result depends on the previous value.
  [[nodiscard]] Record before_change(const Word& word, const Actor& actor) {
    return is_ordered(word.write, actor) ? 0 : word.write;
  }
  void write(Stripe& stripe, Word& word, const Actor& actor);
  /// Records a strong write. `goes_on`: whether the write is an atomic that modified the value of
  /// the previous strong write.
  void change(Stripe& stripe, Word& word, const Actor& actor, bool goes_on);
  /// Records that a strong read or an atomic returns the word's value. `actor.history` must not be
  /// null. Returns the record of a weak write by another CTA if the actor has read a later strong
  /// write by that CTA, which follows the weak write without a fence.
  [[nodiscard]] Record see(const Stripe& stripe, const Word& word, const Actor& actor);

  /// Sets what a read of the current value of `word` acquires.
  void describe_read(const Stripe& stripe, const Word& word, Replaced& replaced);
  /// Keeps the value that a store replaces, up to kMostReplaced values in each stripe.
  static void keep_replaced(Stripe& stripe, std::uint64_t address, const Replaced& replaced);
  /// The value that a strong read of `words` at `address` may return instead of the current one:
  /// the replaced value, if nothing orders the last store, which is of another CTA, before the
  /// read. Null if there is none. So a fence that a kernel lacks between a store and a flag has an
  /// effect.
  [[nodiscard]] const Replaced* old_value(const Stripe& stripe, std::uint64_t address,
                                          std::uint32_t bytes, std::span<const Word> words,
                                          const Actor& actor) const;

  /// Records that a strong read returns an old value. `actor.history` must not be null.
  static void read_old(const Replaced& old, const Actor& actor);
  /// True if the actor has read a strong write that follows the store `record` of another CTA, with
  /// or without a fence between them. `actor.history` must not be null.
  [[nodiscard]] static bool follows(Record record, const Actor& actor);

  /// Records the weak reads of other CTAs that are not ordered before a strong write by `actor`.
  void note_late(const Word& word, const Actor& actor);

  /// Marks the weak reads by the instruction at `pc` as guesses, because the same CTA later
  /// accessed a location of such a read by an atomic.
  void explain(int pc);
  /// Keeps `reads`, the weak reads of a finished CTA at locations that its atomics did not access.
  void leave(std::uint64_t cta, PlainReads reads);
  /// A weak read that is not ordered with a strong write by another CTA.
  struct Unordered {
    std::uint64_t cta = 0;
    PlainRead read;
  };
  /// Returns the unordered weak reads that are not guesses, one for each instruction; must be
  /// called after the last CTA has run.
  [[nodiscard]] std::vector<Unordered> unexplained();

 private:
  static constexpr int kCtaShift = 38;
  static constexpr int kWarpShift = 33;
  static constexpr Record kChange = Record{1} << 32;  ///< the access is an atomic or a strong store
  static constexpr std::uint64_t kMostCtas = (1ULL << 26) - 2;
  static constexpr std::size_t kStripes = 256;
  static constexpr std::size_t kMostReplaced = 256;
  static constexpr std::size_t kMostChains = 1 << 20;
  static constexpr std::size_t kMostLate = 1 << 16;
  static constexpr std::size_t kMostLeft = 1 << 20;  ///< limit of weak reads of finished CTAs

  [[nodiscard]] static Record record(const Actor& actor) {
    return (actor.cta + 1) << kCtaShift | static_cast<Record>(actor.warp) << kWarpShift |
           actor.clock[static_cast<std::size_t>(actor.warp)];
  }
  /// True if the recorded access is ordered before the current access by `actor`. `record` must be
  /// a member of a shadow word, because the address of the member identifies the location.
  [[nodiscard]] bool is_ordered(const Record& record, const Actor& actor) const {
    return record == 0 || cta_of(record) == actor.cta || is_known(record, actor);
  }
  [[nodiscard]] bool is_known(const Record& record, const Actor& actor) const;
  [[nodiscard]] static int warp_of(Record record) {
    return static_cast<int>((record >> kWarpShift) % kMaxWarps);
  }
  [[nodiscard]] static std::uint32_t time_of(Record record) {
    return static_cast<std::uint32_t>(record);
  }
  /// True if `write`, a weak write by another CTA, lacks a fence before a strong write that the
  /// actor has read.
  [[nodiscard]] bool lacks_fence(const Record& write, const Actor& actor);

  struct Freed {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Shadow {
    GlobalBuffer* buffer = nullptr;
    std::unique_ptr<Word, Freed> words;
    std::unique_ptr<PlainShadow> plain;
  };
  /// The shadow memory of a buffer; `made` creates it if it does not exist.
  template <typename Made>
  [[nodiscard]] void* shadow_by(GlobalBuffer& buffer, const Made& made);

  bool is_on_ = false;
  bool has_changes_ = false;
  bool has_strong_reads_ = false;
  int warps_ = 0;
  int shift_ = 2;
  std::atomic<bool> gave_up_{false};
  std::atomic<std::uint64_t> recorded_{0};
  std::mutex guess_mutex_;
  std::set<int> explained_;
  std::map<int, Unordered> suspected_;                            ///< by instruction
  std::map<std::pair<const Word*, std::uint64_t>, Record> late_;  ///< by location and reading CTA
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
