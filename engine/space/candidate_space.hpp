#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/candidate.hpp"
#include "engine/core/random.hpp"

namespace evo {

/// The number of valid candidates in a space.
struct SpaceCount {
  double value = 0;
  bool exact = true;  ///< false: rounded (2^62 or more) or estimated by sampling
};

/// The interface of strategies to a space, which is a search space file or a recording.
///
/// Each valid candidate has exactly one rank, a number from 0 to rank_count() − 1. A search space
/// file may have constraints with too many combinations of values for the index that assigns the
/// ranks (see Space). Candidates that violate such a constraint leave gaps in this range. In a
/// space with 2^62 candidates or more, a rank is instead the seed of a uniform random draw.
class CandidateSpace {
 public:
  virtual ~CandidateSpace() = default;

  [[nodiscard]] virtual std::size_t parameter_count() const = 0;
  /// Number of values of one parameter, at least 1.
  [[nodiscard]] virtual std::size_t value_count(std::size_t parameter) const = 0;
  /// True if the parameter's values are in ascending order as numbers (true counts as 1), so that
  /// neighbouring values are similar. False for names.
  [[nodiscard]] virtual bool is_ordered(std::size_t parameter) const = 0;
  /// The name of a parameter, which is its macro, and the text of one of its values.
  [[nodiscard]] virtual std::string_view parameter_name(std::size_t parameter) const = 0;
  [[nodiscard]] virtual std::string value_text(std::size_t parameter, std::size_t value) const = 0;

  [[nodiscard]] virtual bool is_valid(const Candidate& candidate) const = 0;
  [[nodiscard]] virtual SpaceCount count() const = 0;

  [[nodiscard]] virtual std::uint64_t rank_count() const = 0;
  /// The candidate with rank `rank` < rank_count(); nullopt if the rank is in a gap.
  [[nodiscard]] virtual std::optional<Candidate> at_rank(std::uint64_t rank) const = 0;

  /// A random valid candidate; all valid candidates are equally probable.
  [[nodiscard]] virtual Candidate sample(Random& random) const {
    for (;;) {
      if (std::optional<Candidate> found = at_rank(random.below(rank_count()))) return *found;
    }
  }
};

}  // namespace evo
