#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace evo {

/// One point of a search space: for each parameter, in the space's order, the index of its value.
/// Only the space can convert a Candidate to macros or JSON.
struct Candidate {
  std::vector<std::uint16_t> choice;

  auto operator<=>(const Candidate&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Hash for unordered containers (FNV-1a over the choices). No file or database contains this hash,
/// so it may change.
struct CandidateHash {
  std::size_t operator()(const Candidate& candidate) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const std::uint16_t index : candidate.choice) {
      hash = (hash ^ index) * 0x100000001b3ULL;
    }
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }
};

}  // namespace evo
