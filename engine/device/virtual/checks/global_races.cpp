#include "engine/device/virtual/checks/global_races.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace evo::ptx {

GlobalRaces::~GlobalRaces() {
  for (const Shadow& shadow : shadows_) shadow.buffer->shadow.store(nullptr);
}

void GlobalRaces::start(std::uint64_t ctas, int warps, int granule, bool has_changes,
                        bool has_strong_reads) {
  is_on_ = ctas > 1 && ctas <= kMostCtas;
  if (is_on_) stripes_ = std::make_unique<std::array<Stripe, kStripes>>();
  has_changes_ = has_changes;
  has_strong_reads_ = has_strong_reads;
  warps_ = warps;
  shift_ = std::countr_zero(static_cast<unsigned>(granule));
}

template <typename Made>
void* GlobalRaces::shadow_by(GlobalBuffer& buffer, const Made& made) {
  if (!is_on_) return nullptr;
  if (void* known = buffer.shadow.load(std::memory_order_acquire)) return known;
  const std::lock_guard lock(mutex_);
  if (void* known = buffer.shadow.load()) return known;
  const std::uint64_t places = (buffer.bytes >> shift_) + 1;
  if (places * sizeof(Word) > kMostShadow - shadow_bytes_) return nullptr;
  Shadow shadow = made(places);
  void* const memory =
      shadow.plain != nullptr ? static_cast<void*>(shadow.plain.get()) : shadow.words.get();
  if (memory == nullptr) return nullptr;
  shadow_bytes_ += places * sizeof(Word);
  shadow.buffer = &buffer;
  shadows_.push_back(std::move(shadow));
  buffer.shadow.store(memory, std::memory_order_release);
  return memory;
}

GlobalRaces::Word* GlobalRaces::shadow_of(GlobalBuffer& buffer) {
  return static_cast<Word*>(shadow_by(buffer, [](std::uint64_t places) {
    Shadow shadow;
    // Allocates with calloc, because pages that are never accessed then take no memory.
    shadow.words.reset(static_cast<Word*>(std::calloc(places, sizeof(Word))));
    return shadow;
  }));
}

PlainShadow* GlobalRaces::plain_shadow_of(GlobalBuffer& buffer) {
  return static_cast<PlainShadow*>(shadow_by(buffer, [](std::uint64_t places) {
    Shadow shadow;
    shadow.plain = std::make_unique<PlainShadow>(places);
    return shadow;
  }));
}

CtaHistory& GlobalRaces::history_of(std::uint64_t cta) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<CtaHistory>& history = histories_[cta];
  if (history == nullptr) history = std::make_unique<CtaHistory>(cta, warps_, has_strong_reads_);
  return *history;
}

ReleaseChain& GlobalRaces::new_chain() {
  const std::lock_guard lock(mutex_);
  if (chains_.size() >= kMostChains) {
    give_up();
    return chains_.back();
  }
  return chains_.emplace_back();
}

bool GlobalRaces::is_known(const Record& record, const Actor& actor) const {
  if (gave_up_.load(std::memory_order_relaxed)) return true;
  if (actor.history == nullptr) return false;
  if (actor.history->has_seen(actor.warp, actor.clock, &record, record)) return true;
  return actor.history->knows(actor.warp, actor.clock, cta_of(record), warp_of(record),
                              time_of(record));
}

bool GlobalRaces::lacks_fence(const Record& write, const Actor& actor) {
  if (write == 0 || is_ordered(write, actor)) return false;
  const std::uint64_t cta = cta_of(write);
  return follows(write, actor) &&
         !history_of(cta).fences().publishes_before(cta, warp_of(write), time_of(write));
}

bool GlobalRaces::follows(Record record, const Actor& actor) {
  return actor.history->follows(actor.warp, actor.clock, cta_of(record), warp_of(record),
                                time_of(record));
}

void GlobalRaces::read_old(const Replaced& old, const Actor& actor) {
  if (old.chain != nullptr) actor.history->acquire(actor.warp, actor.clock, *old.chain, old.length);
}

GlobalRaces::Record GlobalRaces::read(Word& word, const Actor& actor) {
  const Record before = word.read;
  if (before != 0 && cta_of(before) != actor.cta) word.other_read = before;
  word.read = record(actor);
  for (const Record* other : {&word.write, &word.change}) {
    if (!is_ordered(*other, actor)) return *other;
  }
  return 0;
}

GlobalRaces::Record GlobalRaces::before_write(const Word& word, const Actor& actor) {
  for (const Record* other : {&word.write, &word.change, &word.read, &word.other_read}) {
    if (!is_ordered(*other, actor)) return *other;
  }
  return 0;
}

void GlobalRaces::write(Stripe& stripe, Word& word, const Actor& actor) {
  word.write = record(actor);
  if (!stripe.heads.empty()) stripe.heads.erase(&word);
}

void GlobalRaces::change(Stripe& stripe, Word& word, const Actor& actor, bool goes_on) {
  word.change = record(actor) | kChange;
  const Release* release =
      actor.history == nullptr ? nullptr : actor.history->release(actor.warp, actor.clock);
  if (!goes_on && !stripe.heads.empty()) stripe.heads.erase(&word);
  if (release == nullptr) return;
  ReleaseChain*& head = stripe.heads[&word];
  if (head == nullptr) head = &new_chain();
  head->append(*release);
}

GlobalRaces::Record GlobalRaces::see(const Stripe& stripe, const Word& word, const Actor& actor) {
  const Record unordered = lacks_fence(word.write, actor) ? word.write : 0;
  const auto is_foreign = [&](Record record) { return record != 0 && cta_of(record) != actor.cta; };
  for (const Record* other : {&word.write, &word.change}) {
    if (is_foreign(*other)) actor.history->see(actor.warp, actor.clock, other, *other);
  }
  if (const auto head = stripe.heads.find(&word); head != stripe.heads.end()) {
    actor.history->acquire(actor.warp, actor.clock, *head->second);
  } else if (is_foreign(word.write)) {
    // A weak store may be intended as a release, for example to free a lock, so it is treated as a
    // release.
    actor.history->acquire(actor.warp, actor.clock, history_of(cta_of(word.write)).fences());
  }
  return unordered;
}

void GlobalRaces::describe_read(const Stripe& stripe, const Word& word, Replaced& replaced) {
  if (const auto head = stripe.heads.find(&word); head != stripe.heads.end()) {
    replaced.chain = head->second;
  } else if (word.write != 0) {
    replaced.chain = &history_of(cta_of(word.write)).fences();
  }
  if (replaced.chain != nullptr) replaced.length = replaced.chain->length();
}

void GlobalRaces::keep_replaced(Stripe& stripe, std::uint64_t address, const Replaced& replaced) {
  if (stripe.replaced.size() < kMostReplaced || stripe.replaced.contains(address))
    stripe.replaced[address] = replaced;
}

const GlobalRaces::Replaced* GlobalRaces::old_value(const Stripe& stripe, std::uint64_t address,
                                                    std::uint32_t bytes,
                                                    std::span<const Word> words,
                                                    const Actor& actor) const {
  const auto kept = stripe.replaced.find(address);
  if (kept == stripe.replaced.end() || kept->second.bytes != bytes) return nullptr;
  for (const Word& word : words) {
    const Record by = kept->second.by;
    const Record& last = word.change == by ? word.change : word.write;
    if (last != by || is_ordered(last, actor)) return nullptr;
  }
  return &kept->second;
}

void GlobalRaces::note_late(const Word& word, const Actor& actor) {
  for (const Record* reader : {&word.read, &word.other_read}) {
    if (is_ordered(*reader, actor)) continue;
    const std::lock_guard lock(guess_mutex_);
    if (late_.size() < kMostLate) late_.try_emplace({&word, cta_of(*reader)}, record(actor));
  }
}

void GlobalRaces::explain(int pc) {
  const std::lock_guard lock(guess_mutex_);
  explained_.insert(pc);
}

void GlobalRaces::leave(std::uint64_t cta, PlainReads reads) {
  if (!has_changes_ || reads.empty()) return;
  const std::lock_guard lock(guess_mutex_);
  for (const auto& entry : reads) {
    if (entry.second.other != 0)
      suspected_.try_emplace(entry.second.pc, Unordered{cta, entry.second});
  }
  if (left_count_ + reads.size() > kMostLeft) return;
  left_count_ += reads.size();
  left_[cta] = std::move(reads);
}

std::vector<GlobalRaces::Unordered> GlobalRaces::unexplained() {
  const std::lock_guard lock(guess_mutex_);
  for (const auto& [place, change] : late_) {
    const auto reads = left_.find(place.second);
    if (reads == left_.end()) continue;
    const auto read = reads->second.find(place.first);
    if (read == reads->second.end()) continue;
    read->second.other = change;
    suspected_.try_emplace(read->second.pc, Unordered{place.second, read->second});
  }
  std::vector<Unordered> found;
  for (const auto& [pc, unordered] : suspected_) {
    if (!explained_.contains(pc)) found.push_back(unordered);
  }
  return found;
}

}  // namespace evo::ptx
