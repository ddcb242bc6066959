#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace evo::ptx {

class ReleaseChain;

/// Records that a warp of a CTA, at some time, read the value that the first `length` releases of a
/// chain left at a location. The acquisitions of a CTA are numbered from 1 and form a linked list
/// that begins with the latest.
struct Acquisition {
  const ReleaseChain* chain = nullptr;
  std::uint32_t length = 0;
  int warp = 0;
  std::uint32_t time = 0;
  std::uint32_t number = 0;
  const Acquisition* before = nullptr;
};

/// The information that a strong write by a CTA gives to its readers: for each warp of the CTA, the
/// time up to which the warp's accesses are published, and the time up to which they precede the
/// strong write (`known`), so that the warp's acquisitions are passed on. `known` is empty if
/// nothing needs it.
struct Release {
  std::uint64_t cta = 0;
  std::vector<std::uint32_t> published;
  std::vector<std::uint32_t> known;
  const Acquisition* acquired = nullptr;

  [[nodiscard]] bool operator==(const Release&) const = default;
};

/// A chain of releases, for example at one location: a sequence of strong writes in which each
/// modifies the value of the previous one, as atomics do. A thread that reads the value of one
/// release also acquires all earlier releases of the chain. Thread-safe.
class ReleaseChain {
 public:
  void append(const Release& release);
  [[nodiscard]] std::uint32_t length() const;
  /// Returns a release among the first `length` that publishes the access that `warp` of `cta` made
  /// at `time`, or null if there is none.
  [[nodiscard]] const Release* find(std::uint64_t cta, int warp, std::uint32_t time,
                                    std::uint32_t length) const;
  /// Whether the access that `warp` of `cta` made at `time` precedes one of the first `length`
  /// releases, published or not.
  [[nodiscard]] bool follows(std::uint64_t cta, int warp, std::uint32_t time,
                             std::uint32_t length) const;
  /// Whether a release of `cta` publishes an access that `warp` made before `time`, but not yet the
  /// accesses at `time`.
  [[nodiscard]] bool publishes_before(std::uint64_t cta, int warp, std::uint32_t time) const;
  /// The releases with indices from `first` to `length` − 1.
  [[nodiscard]] std::vector<const Release*> slice(std::uint32_t first, std::uint32_t length) const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Release*> releases_;
  /// by CTA: the indices of its releases in releases_
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> of_cta_;
};

}  // namespace evo::ptx
