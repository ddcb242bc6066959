#include "tests/agreement/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "engine/core/error.hpp"

namespace evo::agreement {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The difference of two values divided by the difference that `bound` allows. A result above 1
/// means that `got` is outside its bound.
double share_of(const Bound& bound, double recorded, double got) {
  if (std::isnan(recorded) || std::isnan(got))
    return std::isnan(recorded) == std::isnan(got) ? 0 : kInfinity;
  if (std::isinf(recorded) || std::isinf(got)) return recorded == got ? 0 : kInfinity;
  const double difference = std::abs(got - recorded);
  if (difference == 0) return 0;
  return difference / (bound.relative * std::abs(recorded) + bound.absolute);
}

std::string hex(std::span<const std::byte> bytes) {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (std::size_t i = bytes.size(); i-- > 0;) {
    const auto value = std::to_integer<unsigned>(bytes[i]);
    text.push_back(kDigits[value / 16]);
    text.push_back(kDigits[value % 16]);
  }
  return text;
}

struct Element {
  std::size_t output;
  std::size_t index;
  std::size_t column;
};

std::string describe(const Element& at, Dtype dtype, std::span<const std::byte> recorded,
                     std::span<const std::byte> got) {
  std::ostringstream text;
  text << "output " << at.output << " element " << at.index << " (column " << at.column
       << "): recorded " << decode(dtype, recorded.data()) << " " << hex(recorded) << ", got "
       << decode(dtype, got.data()) << " " << hex(got);
  return text.str();
}

void compare_output(const CaseArgument& argument, std::size_t output, const Bytes& recorded,
                    const Bytes& got, CaseComparison& total) {
  const std::size_t size = size_of(argument.dtype);
  for (std::size_t i = 0; i < recorded.size() / size; ++i) {
    const auto want = std::span(recorded).subspan(i * size, size);
    const auto have = std::span(got).subspan(i * size, size);
    ++total.elements;
    if (std::ranges::equal(want, have)) {
      ++total.identical;
      continue;
    }
    const std::size_t column = i % argument.columns.size();
    const Bound& bound = argument.columns[column];
    const double share = bound.is_exact() ? kInfinity
                                          : share_of(bound, decode(argument.dtype, want.data()),
                                                     decode(argument.dtype, have.data()));
    total.worst_share = std::max(total.worst_share, share);
    if (share <= 1) continue;
    if (total.outside++ == 0)
      total.first = describe({output, i, column}, argument.dtype, want, have);
  }
}

/// Calls `visit` with the argument and the index of each output. Throws InputError if `recorded` or
/// `got` lacks the output, or has it with another size than its argument.
template <typename F>
void for_each_output(const AgreementCase& data, const Outputs& recorded, const Outputs& got,
                     const F& visit) {
  std::size_t output = 0;
  for (const CaseArgument& argument : data.arguments) {
    if (!argument.is_output) continue;
    if (output >= recorded.size() || output >= got.size() ||
        recorded[output].size() != argument.initial.size() ||
        got[output].size() != argument.initial.size()) {
      throw InputError("kernel '" + data.entry + "': output " + std::to_string(output) +
                       " was recorded with another size; record the outputs again");
    }
    visit(argument, output);
    ++output;
  }
}

/// The distance between adjacent numbers of the type near `value`.
double step_of(Dtype dtype, double value) {
  const int digits = dtype == Dtype::kF16 ? 11 : dtype == Dtype::kBf16 ? 8 : 24;
  const int smallest = dtype == Dtype::kF16 ? -24 : -149;
  return std::ldexp(1.0,
                    std::max(std::ilogb(std::max(std::abs(value), 1e-45)) - digits + 1, smallest));
}

}  // namespace

CaseComparison compare_case(const AgreementCase& data, const Outputs& recorded,
                            const Outputs& got) {
  CaseComparison total;
  for_each_output(data, recorded, got, [&](const CaseArgument& argument, std::size_t output) {
    compare_output(argument, output, recorded[output], got[output], total);
  });
  return total;
}

RunComparison compare_run(const AgreementCase& data, const Outputs& recorded, const Outputs& got) {
  RunComparison total;
  for_each_output(data, recorded, got, [&](const CaseArgument& argument, std::size_t output) {
    const std::vector<double> want = decode_all(argument.dtype, recorded[output]);
    const std::vector<double> have = decode_all(argument.dtype, got[output]);
    double squares = 0;
    double error_squares = 0;
    double largest = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      ++total.elements;
      const double difference = want[i] == have[i] ? 0 : std::abs(have[i] - want[i]);
      total.identical += difference == 0 ? 1 : 0;
      const double error = std::isnan(difference) ? kInfinity : difference;
      largest = std::max(largest, error);
      error_squares += error * error;
      if (std::isfinite(want[i])) {
        squares += want[i] * want[i];
        total.worst_steps = std::max(total.worst_steps, error / step_of(argument.dtype, want[i]));
      }
    }
    if (largest == 0) return;
    const double rms = std::sqrt(squares / static_cast<double>(want.size()));
    total.max_over_rms = std::max(total.max_over_rms, largest / rms);
    total.relative_l2 = std::max(total.relative_l2, std::sqrt(error_squares / squares));
  });
  return total;
}

}  // namespace evo::agreement
