#include "engine/device/virtual/checks/global_races.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace evo::ptx {

GlobalRaces::~GlobalRaces() {
  for (const Shadow& shadow : shadows_) shadow.buffer->shadow.store(nullptr);
}

void GlobalRaces::start(std::uint64_t ctas, int granule) {
  is_on_ = ctas > 1 && ctas <= kMostCtas;
  shift_ = std::countr_zero(static_cast<unsigned>(granule));
}

GlobalRaces::Word* GlobalRaces::shadow_of(GlobalBuffer& buffer) {
  if (!is_on_) return nullptr;
  if (void* known = buffer.shadow.load(std::memory_order_acquire)) return static_cast<Word*>(known);
  const std::lock_guard lock(mutex_);
  if (void* known = buffer.shadow.load()) return static_cast<Word*>(known);
  const std::uint64_t words = (buffer.bytes >> shift_) + 1;
  if (words * sizeof(Word) > kMostShadow - shadow_bytes_) return nullptr;
  // Pages that nothing touches take no memory, as they would when filled here.
  auto* made = static_cast<Word*>(std::calloc(words, sizeof(Word)));
  if (made == nullptr) return nullptr;
  shadow_bytes_ += words * sizeof(Word);
  shadows_.push_back({&buffer, std::unique_ptr<Word, Freed>(made)});
  buffer.shadow.store(made, std::memory_order_release);
  return made;
}

void GlobalRaces::publish(std::uint64_t cta) {
  if (!is_on_) return;
  Shard& shard = shards_[cta % kShards];
  const std::lock_guard lock(shard.mutex);
  shard.moments[cta].push_back(next());
}

bool GlobalRaces::is_ordered(Record record, std::uint64_t cta, std::uint32_t seen) {
  const auto time = static_cast<std::uint32_t>(record);
  if (record == 0) return true;
  if (cta_of(record) == cta) return true;
  if ((record & kChange) != 0) return seen >= time;
  if (seen <= time) return false;
  Shard& shard = shards_[cta_of(record) % kShards];
  const std::lock_guard lock(shard.mutex);
  const auto moments = shard.moments.find(cta_of(record));
  if (moments == shard.moments.end()) return false;
  const auto next = std::ranges::upper_bound(moments->second, time);
  return next != moments->second.end() && *next <= seen;
}

GlobalRaces::Record GlobalRaces::first_unordered(
    std::initializer_list<std::reference_wrapper<const std::atomic<Record>>> records,
    std::uint64_t cta, std::uint32_t seen) {
  for (const std::atomic<Record>& record : records) {
    const Record found = record.load(std::memory_order_relaxed);
    if (!is_ordered(found, cta, seen)) return found;
  }
  return 0;
}

GlobalRaces::Record GlobalRaces::read(Word& word, std::uint64_t cta, std::uint32_t seen) {
  const Record before = word.read.load(std::memory_order_relaxed);
  const Record after = record(cta, now());
  if (before != 0 && cta_of(before) != cta) {
    word.other_read.store(before, std::memory_order_relaxed);
  }
  if (before != after) word.read.store(after, std::memory_order_relaxed);
  return first_unordered({word.write, word.change}, cta, seen);
}

GlobalRaces::Record GlobalRaces::change(Word& word, std::uint64_t cta, std::uint32_t seen,
                                        std::uint32_t time, bool accumulates) {
  // Of changes at once the latest time stays, whoever comes second.
  Record before = word.change.load();
  while (!word.change.compare_exchange_weak(
      before, record(cta, std::max(time, static_cast<std::uint32_t>(before))) | kChange)) {
  }
  return accumulates ? first_unordered({word.write}, cta, seen) : 0;
}

std::uint32_t GlobalRaces::seen_at(const Word& word, std::uint64_t cta) {
  std::uint32_t seen = 0;
  for (const Record record : {word.write.load(), word.change.load()}) {
    if (record != 0 && cta_of(record) != cta) {
      seen = std::max(seen, static_cast<std::uint32_t>(record));
    }
  }
  return seen;
}

void GlobalRaces::explain(int pc) {
  const std::lock_guard lock(guess_mutex_);
  explained_.insert(pc);
}

void GlobalRaces::suspect(const Hazard& hazard) {
  const std::lock_guard lock(guess_mutex_);
  suspected_.try_emplace(hazard.instruction, hazard);
}

bool GlobalRaces::is_suspected(int pc) {
  const std::lock_guard lock(guess_mutex_);
  return suspected_.contains(pc) || explained_.contains(pc);
}

std::vector<Hazard> GlobalRaces::unexplained() {
  const std::lock_guard lock(guess_mutex_);
  std::vector<Hazard> found;
  for (auto& [pc, hazard] : suspected_) {
    if (!explained_.contains(pc)) found.push_back(std::move(hazard));
  }
  suspected_.clear();
  return found;
}

}  // namespace evo::ptx
