#include "engine/gate/correctness/near_miss.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/gate/correctness/compare.hpp"

namespace evo {
namespace {

/// A near miss must differ from the expected output in at least this number of elements, because
/// fewer differences may be within the tolerance by coincidence.
constexpr std::size_t kFewestOthers = 32;

struct Words {
  NearMiss miss;
  std::string_view what;
  std::string_view who;
};

constexpr std::array<Words, 4> kWords = {{
    {NearMiss::kElementBefore, "the previous element in place of every element",
     "is off by one, like an exclusive scan"},
    {NearMiss::kElementBehind, "the next element in place of every element", "is off by one"},
    {NearMiss::kElementsExchanged, "exchanged neighbouring elements", "exchanges neighbours"},
    {NearMiss::kRowsExchanged, "exchanged neighbouring rows", "exchanges rows"},
}};

/// The index of the other element in the pair (0, 1), (2, 3), … that contains element `i`; `i` for
/// the last of an odd number of elements.
std::size_t partner_of(std::size_t i, std::size_t count) { return (i ^ 1U) < count ? i ^ 1U : i; }

/// The index of the expected element that stands at index `i` in the wrong output.
std::size_t source_of(NearMiss miss, std::size_t i, std::size_t count, std::size_t row_length) {
  const std::size_t row = i / row_length;
  const std::size_t column = i % row_length;
  switch (miss) {
    case NearMiss::kElementBefore:
      return column > 0 ? i - 1 : i;
    case NearMiss::kElementBehind:
      return column + 1 < row_length ? i + 1 : i;
    case NearMiss::kElementsExchanged:
      return row * row_length + partner_of(column, row_length);
    case NearMiss::kRowsExchanged:
      return partner_of(row, count / row_length) * row_length + column;
  }
  return i;
}

/// The sum of squared errors above which `tolerance` certainly rejects the relative L2 error. The
/// margin covers rounding.
double most_square(const std::vector<double>& values, const Tolerance& tolerance) {
  constexpr double kMargin = 1 + 1e-6;
  double square = 0;
  for (const double value : values) square += std::isfinite(value) ? value * value : 0;
  const double relative = std::min(tolerance.relative_l2, 1.0);
  return kMargin * relative * relative * square;
}

/// `most`: see most_square().
bool is_accepted(NearMiss miss, const Expectation& expected, const Tolerance& tolerance,
                 std::size_t row_length, double most) {
  const std::size_t count = expected.size();
  const std::size_t length = row_length > 1 ? row_length : count;
  const std::vector<double>& values = expected.values();
  std::size_t others = 0;
  double square = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t source = source_of(miss, i, count, length);
    // Ends the loop at the first violated bound, because most near misses violate a bound within
    // the first elements.
    const double error = std::fabs(values[source] - values[i]);
    if (error > tolerance.max_abs_error) return false;
    square += std::isfinite(error) ? error * error : 0;
    if (square > most) return false;
    const bool is_same = values[source] == values[i] ||
                         std::ranges::equal(expected.element(source), expected.element(i));
    others += is_same ? 0 : 1;
  }
  if (others < kFewestOthers) return false;
  std::vector<std::byte> output;
  output.reserve(expected.bytes().size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = expected.element(source_of(miss, i, count, length));
    output.insert(output.end(), element.begin(), element.end());
  }
  return !violation(compare(output, expected, tolerance.bad_abs_error, row_length), tolerance, "");
}

}  // namespace

std::string_view what_it_is(NearMiss miss) { return kWords[static_cast<std::size_t>(miss)].what; }
std::string_view who_gives_it(NearMiss miss) { return kWords[static_cast<std::size_t>(miss)].who; }

std::vector<NearMiss> accepted_near_misses(const Expectation& expected, const Tolerance& tolerance,
                                           std::size_t row_length) {
  std::vector<NearMiss> accepted;
  const double most = most_square(expected.values(), tolerance);
  for (const Words& words : kWords) {
    if (is_accepted(words.miss, expected, tolerance, row_length, most)) {
      accepted.push_back(words.miss);
    }
  }
  return accepted;
}

}  // namespace evo
