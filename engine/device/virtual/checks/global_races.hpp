#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// Finds races between the CTAs of one launch in the global memory that kernels may write: an
/// access that is not ordered behind what another CTA did there, whatever the schedule was.
///
/// Time counts what publishes and what changes flags: fences, releases, atomics. A shadow word for
/// every granule of a buffer holds who wrote, changed (atomics, strong stores) and read it last,
/// and when. What CTA A wrote at t is ordered before what CTA B does when
///   1. A executed a fence (of the GPU or the system) or a release at some p > t, and
///   2. B saw, by an atomic or a strong read, a place that was changed at some time from p on.
/// What A changed needs no fence of A. Both are necessary for order, not sufficient: nothing that
/// is ordered is reported. A plain read of what others change by atomics is a guess, as
/// compare-and-swap loops begin with, where an atomic of the same CTA comes to that place later.
/// Strong reads, and atomics that find what others read, are not looked at; nor is memory beyond
/// kMostShadow.
class GlobalRaces {
 public:
  /// The host's memory for the shadows of one launch.
  static constexpr std::uint64_t kMostShadow = 1ULL << 30;

  /// Who did something, and when: CTA 26 bits, flags 6, time 32. 0: nobody.
  using Record = std::uint64_t;
  struct Word {
    std::atomic<Record> write;
    std::atomic<Record> change;
    std::atomic<Record> read;
    std::atomic<Record> other_read;  ///< the last one by another CTA than that of `read`
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

  GlobalRaces() = default;
  GlobalRaces(const GlobalRaces&) = delete;
  GlobalRaces& operator=(const GlobalRaces&) = delete;
  ~GlobalRaces();

  /// Before the first CTA. `granule`: bytes of a shadow word, the narrowest access of the kernel.
  void start(std::uint64_t ctas, int granule);

  [[nodiscard]] int shift() const { return shift_; }
  /// The shadow of a buffer that kernels may write; nothing where it is not watched.
  [[nodiscard]] Word* shadow_of(GlobalBuffer& buffer);

  /// What `cta` did so far is published. The moment.
  void publish(std::uint64_t cta);
  /// The present moment.
  [[nodiscard]] std::uint32_t now() const { return time_.load(); }
  /// A moment of its own, for a change.
  [[nodiscard]] std::uint32_t next() { return time_.fetch_add(1) + 1; }

  [[nodiscard]] static std::uint64_t cta_of(Record record) { return (record >> kCtaShift) - 1; }
  /// By an atomic or a strong store.
  [[nodiscard]] static bool is_change(Record record) { return (record & kChange) != 0; }

  // An access by `cta`, which has seen what was published until `seen`. Each gives what the access
  // is not ordered behind, or 0.
  [[nodiscard]] Record read(Word& word, std::uint64_t cta, std::uint32_t seen);
  /// Of a write, before it is done.
  [[nodiscard]] Record before_write(const Word& word, std::uint64_t cta, std::uint32_t seen) {
    return first_unordered({word.write, word.change, word.read, word.other_read}, cta, seen);
  }
  /// After it was done: who finds the record finds the content.
  void wrote(Word& word, std::uint64_t cta) { word.write.store(record(cta, now())); }
  /// A strong store or an atomic at `time`, before it is done; `accumulates`: the result depends on
  /// what was there.
  [[nodiscard]] Record change(Word& word, std::uint64_t cta, std::uint32_t seen, std::uint32_t time,
                              bool accumulates);
  /// An atomic came to what the instruction at `pc` had read: its reads are guesses.
  void explain(int pc);
  /// A read by an instruction that may be a guess; one of each is kept.
  void suspect(const Hazard& hazard);
  [[nodiscard]] bool is_suspected(int pc);
  /// After the last CTA: those that no atomic explained.
  [[nodiscard]] std::vector<Hazard> unexplained();

  /// Until when an access that sees this place sees what others published.
  [[nodiscard]] static std::uint32_t seen_at(const Word& word, std::uint64_t cta);

 private:
  static constexpr int kCtaShift = 38;
  static constexpr Record kChange = Record{1} << 32;  ///< by an atomic or a strong store
  static constexpr std::uint64_t kMostCtas = (1ULL << 26) - 2;
  static constexpr std::size_t kShards = 64;

  [[nodiscard]] static Record record(std::uint64_t cta, std::uint32_t time) {
    return (cta + 1) << kCtaShift | time;
  }
  [[nodiscard]] bool is_ordered(Record record, std::uint64_t cta, std::uint32_t seen);
  [[nodiscard]] Record first_unordered(
      std::initializer_list<std::reference_wrapper<const std::atomic<Record>>> records,
      std::uint64_t cta, std::uint32_t seen);

  struct Freed {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Shadow {
    GlobalBuffer* buffer = nullptr;
    std::unique_ptr<Word, Freed> words;
  };
  /// The moments at which CTAs published, ascending.
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> moments;
  };

  bool is_on_ = false;
  int shift_ = 2;
  std::atomic<std::uint32_t> time_{1};
  std::mutex guess_mutex_;
  std::set<int> explained_;
  std::map<int, Hazard> suspected_;  ///< by instruction
  std::mutex mutex_;
  std::uint64_t shadow_bytes_ = 0;
  std::vector<Shadow> shadows_;
  std::array<Shard, kShards> shards_;
};

}  // namespace evo::ptx
