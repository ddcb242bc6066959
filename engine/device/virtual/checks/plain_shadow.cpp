#include "engine/device/virtual/checks/plain_shadow.hpp"

#include <sys/mman.h>

#include <new>

namespace evo::ptx {
namespace {

/// Allocates zeroed memory, in large pages if possible, so that there are fewer page faults.
void* zeros(std::size_t bytes) {
  constexpr std::uintptr_t kLargePage = std::uintptr_t{1} << 21;
  void* const made = std::calloc(bytes, 1);
  if (made == nullptr) throw std::bad_alloc();
  const auto first = reinterpret_cast<std::uintptr_t>(made);
  const std::uintptr_t begin = (first + kLargePage - 1) & ~(kLargePage - 1);
  const std::uintptr_t end = (first + bytes) & ~(kLargePage - 1);
  // madvise is a hint; if it fails, pages are small.
  if (begin < end) madvise(static_cast<char*>(made) + (begin - first), end - begin, MADV_HUGEPAGE);
  return made;
}

}  // namespace

PlainShadow::PlainShadow(std::uint64_t places)
    : writers_(static_cast<std::uint32_t*>(zeros(places * sizeof(std::uint32_t)))),
      readers_(static_cast<Readers*>(zeros(places * sizeof(Readers)))) {}

std::uint32_t PlainShadow::write(std::size_t place, std::uint32_t cta) {
  const auto other_than = [cta](std::uint32_t before) { return before == cta ? 0 : before; };
  std::uint32_t other = other_than(writers_.get()[place]);
  writers_.get()[place] = cta;
  if (other != 0 || !is_read_.load(std::memory_order_relaxed)) return other;
  const Readers& readers = readers_.get()[place];
  other = other_than(readers.last);
  return other != 0 ? other : other_than(readers.other);
}

bool PlainShadow::write_all(std::size_t first, std::size_t count, std::uint32_t cta) {
  if (is_read_.load(std::memory_order_relaxed)) return false;
  std::uint32_t* const writers = writers_.get() + first;
  std::uint32_t others = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t before = writers[i];
    others |= before == cta ? 0 : before;
  }
  if (others != 0) return false;
  for (std::size_t i = 0; i < count; ++i) writers[i] = cta;
  return true;
}

std::uint32_t PlainShadow::read(std::size_t place, std::uint32_t cta) {
  is_read_.store(true, std::memory_order_relaxed);
  Readers& readers = readers_.get()[place];
  if (readers.last != 0 && readers.last != cta) readers.other = readers.last;
  readers.last = cta;
  const std::uint32_t writer = writers_.get()[place];
  return writer == cta ? 0 : writer;
}

}  // namespace evo::ptx
