#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/problem/problem.hpp"

namespace evo {

/// Inspects the expected outputs, and rejects a problem whose outputs are degenerate, because wrong
/// kernels might pass: an output is constant or nowhere finite, does not depend on the inputs, or
/// is an inout argument that the reference leaves unchanged. Arguments marked "degenerate" are
/// skipped, because the problem's author declares that degenerate outputs are intended.
class ReferenceAudit {
 public:
  /// `problem` must outlive this object.
  explicit ReferenceAudit(const Problem& problem);

  /// Adds the reference's output for argument `position`, for one shape and seed. `input`: the
  /// content of an inout argument before the launch, else empty. Throws ProblemError if the output
  /// has at least 32 elements and is constant, nowhere finite, or equal to `input`.
  void take(const Shape& shape, std::uint64_t seed, std::size_t position,
            std::span<const std::byte> expected, std::span<const std::byte> input);

  /// To be called after the last take(). Throws ProblemError if an output with several elements is
  /// constant over all cases, or if inputs are random but an output is the same for all seeds on
  /// every shape.
  void require_meaningful() const;

 private:
  struct Output {
    std::size_t elements = 0;
    std::vector<std::byte> first;  ///< the first element seen
    bool varies = false;
    /// By shape name: the first seed, and a hash of the output for this seed.
    std::map<std::string, std::pair<std::uint64_t, std::string>> by_shape;
    bool has_second_seed = false;
    bool depends_on_seed = false;
  };

  [[noreturn]] void fail(std::size_t position, const std::string& what) const;

  const Problem& problem_;
  bool has_random_input_ = false;
  std::vector<Output> outputs_;
};

}  // namespace evo
