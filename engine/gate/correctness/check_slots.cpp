#include "engine/gate/correctness/check_slots.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "engine/device/guard.hpp"

namespace evo {
namespace {

// The 64-bit words in which evo_compare_finish writes the result of a comparison to a slot.
enum Word : std::size_t {
  kErrorSquares = 0,      // three sums: of small, middle and large numbers
  kReferenceSquares = 3,  // three sums: of small, middle and large numbers
  kLargest = 6,
  kRowError,
  kBad,
  kNonFinite,
  kWorst,
  kWorstRow,
  kWorstValue,
  kWorstExpected,
  kWorstRowValue,
  kWorstRowExpected
};

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

double number_at(SlotWords slot, std::size_t word) { return std::bit_cast<double>(slot[word]); }

/// Adds the device's sums of squares of small, middle and large numbers, and undoes their scaling
/// by 2^600 and 2^−600. The total is a long double, whose exponent range is large enough.
long double sum_at(SlotWords slot, std::size_t word) {
  constexpr int kScaleOfSquares = 1200;
  return std::ldexp(static_cast<long double>(number_at(slot, word)), -kScaleOfSquares) +
         static_cast<long double>(number_at(slot, word + 1)) +
         std::ldexp(static_cast<long double>(number_at(slot, word + 2)), kScaleOfSquares);
}

std::string text_at(SlotWords slot, std::size_t word, Dtype dtype) {
  const std::uint64_t bits = slot[word];
  return element_text(dtype, reinterpret_cast<const std::byte*>(&bits));
}

bool is_finite_at(SlotWords slot, std::size_t word, Dtype dtype) {
  const std::uint64_t bits = slot[word];
  const auto bytes = std::as_bytes(std::span(&bits, 1)).first(size_of(dtype));
  return std::isfinite(decode_all(dtype, bytes).front());
}

}  // namespace

Comparison comparison_in(SlotWords slot, Dtype dtype, std::size_t elements) {
  Comparison found;
  found.compared = elements;
  found.max_abs_error = number_at(slot, kLargest);
  found.bad_share = static_cast<double>(slot[kBad]) / static_cast<double>(elements);
  const long double error = sum_at(slot, kErrorSquares);
  const long double reference = sum_at(slot, kReferenceSquares);
  if (reference > 0) {
    found.relative_l2 = static_cast<double>(std::sqrt(error / reference));
  } else if (error > 0) {
    found.relative_l2 = std::numeric_limits<double>::infinity();
  }
  found.max_row_error = number_at(slot, kRowError);
  found.non_finite = slot[kNonFinite];
  found.worst_index = slot[kWorst];
  found.worst_row_index = slot[kWorstRow];
  found.worst_value = text_at(slot, kWorstValue, dtype);
  found.worst_expected = text_at(slot, kWorstExpected, dtype);
  found.worst_is_finite = is_finite_at(slot, kWorstValue, dtype);
  found.worst_expected_is_finite = is_finite_at(slot, kWorstExpected, dtype);
  found.worst_row_value = text_at(slot, kWorstRowValue, dtype);
  found.worst_row_expected = text_at(slot, kWorstRowExpected, dtype);
  return found;
}

std::optional<std::size_t> difference_in(SlotWords slot) {
  if (slot[0] == kNowhere) return std::nullopt;
  return slot[0];
}

std::optional<std::string> guard_violation_in(SlotWords slot, const std::string& buffer,
                                              std::size_t bytes) {
  std::optional<std::size_t> past;
  std::optional<std::size_t> before;
  if (slot[0] != kNowhere) past = slot[0];
  if (slot[1] != kNowhere) before = slot[1];
  return guard_violation_text(buffer, bytes, past, before);
}

std::uint64_t fingerprint_in(SlotWords slot) { return slot[kSlotWords - 2]; }

}  // namespace evo
