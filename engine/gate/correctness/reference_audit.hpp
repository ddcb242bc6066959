#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/problem/problem.hpp"

namespace evo {

/// Looks at what the reference expects, and refuses a problem that cannot tell a right kernel from
/// a wrong one: an output that is one value everywhere or nowhere finite, that is an inout argument
/// left as it was, or that is the same whatever the inputs are.
/// Arguments that say "degenerate" are meant so and not looked at.
class ReferenceAudit {
 public:
  /// `problem` must outlive this.
  explicit ReferenceAudit(const Problem& problem);

  /// What the reference wrote to output `position` on one shape and seed; `input`: what an inout
  /// argument held before, else empty. Throws ProblemError for an expectation of at least
  /// kEnoughElements that is degenerate by itself.
  void take(const Shape& shape, std::uint64_t seed, std::size_t position,
            std::span<const std::byte> expected, std::span<const std::byte> input);

  /// Throws ProblemError when all of it together is degenerate.
  void require_meaningful() const;

 private:
  struct Output {
    std::size_t elements = 0;
    std::vector<std::byte> first;  ///< the first element seen
    bool varies = false;
    std::map<std::string, std::pair<std::uint64_t, std::string>> by_shape;  ///< seed, its content
    bool has_second_seed = false;
    bool depends_on_seed = false;
  };

  [[noreturn]] void fail(std::size_t position, const std::string& what) const;

  const Problem& problem_;
  bool has_random_input_ = false;
  std::vector<Output> outputs_;
};

}  // namespace evo
