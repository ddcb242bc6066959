#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace evo::ptx {

class ReleaseChain;

/// A warp of a CTA saw, at a moment of its own, a place as the first `length` releases of a chain
/// left it. A list, the latest first; numbers count from 1.
struct Acquisition {
  const ReleaseChain* chain = nullptr;
  std::uint32_t length = 0;
  int warp = 0;
  std::uint32_t time = 0;
  std::uint32_t number = 0;
  const Acquisition* before = nullptr;
};

/// What a change by a CTA says to who sees it: per warp of that CTA until when everything is
/// published, and until when its acquisitions are known.
struct Release {
  std::uint64_t cta = 0;
  std::vector<std::uint32_t> published;
  std::vector<std::uint32_t> known;
  const Acquisition* acquired = nullptr;

  [[nodiscard]] bool operator==(const Release&) const = default;
};

/// The releases by changes of one place of which each goes on from the one before (atomics): who
/// sees one of them sees all before it. Thread-safe.
class ReleaseChain {
 public:
  void append(const Release& release);
  [[nodiscard]] std::uint32_t length() const;
  /// One of the first `length` that publishes what a warp of a CTA did at `time`, or nullptr.
  [[nodiscard]] const Release* find(std::uint64_t cta, int warp, std::uint32_t time,
                                    std::uint32_t length) const;
  /// Those from `first` on, up to `length`.
  [[nodiscard]] std::vector<const Release*> slice(std::uint32_t first, std::uint32_t length) const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Release*> releases_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> of_cta_;  ///< their places
};

}  // namespace evo::ptx
