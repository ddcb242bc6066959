#include "engine/problem/special_values.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/core/random.hpp"

namespace evo {
namespace {

// Special values are drawn from a random stream of their own, so that the other elements do not
// depend on them.
constexpr std::uint64_t kStream = 0x7370656369616c73;
constexpr std::size_t kElementsPerRun = 2048;  // each block of this length contains one run
constexpr std::size_t kShortestRun = 32;
constexpr std::size_t kLongestRun = 256;

/// The elements of an input, by index.
class Elements {
 public:
  Elements(std::span<std::byte> data, Dtype dtype)
      : data_(data), dtype_(dtype), size_(size_of(dtype)) {}

  [[nodiscard]] std::size_t count() const { return data_.size() / size_; }
  void put(std::size_t i, double value) { encode(dtype_, value, at(i)); }
  void put_bits(std::size_t i, std::uint64_t bits) { std::memcpy(at(i), &bits, size_); }
  void copy(std::size_t to, std::size_t from) { std::memcpy(at(to), at(from), size_); }

  /// Sorts the elements [first, first + length).
  void sort(std::size_t first, std::size_t length, bool is_rising) {
    const std::vector<std::byte> bytes(at(first), at(first + length));
    const std::vector<double> values = decode_all(dtype_, bytes);
    std::vector<std::size_t> order(length);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return is_rising ? values[a] < values[b] : values[b] < values[a];
    });
    for (std::size_t i = 0; i < length; ++i) {
      std::memcpy(at(first + i), bytes.data() + order[i] * size_, size_);
    }
  }

 private:
  [[nodiscard]] std::byte* at(std::size_t i) { return data_.data() + i * size_; }

  std::span<std::byte> data_;
  Dtype dtype_;
  std::size_t size_;
};

/// In each block of kElementsPerRun elements, makes some consecutive elements ascending, descending
/// or constant.
void put_runs(Elements& elements, Random& random) {
  for (std::size_t start = 0; start < elements.count(); start += kElementsPerRun) {
    const std::size_t part = std::min(kElementsPerRun, elements.count() - start);
    if (part < kShortestRun) return;
    const std::size_t longest = std::min(kLongestRun, part);
    const std::size_t length = kShortestRun + random.below(longest - kShortestRun + 1);
    const std::size_t first = start + random.below(part - length + 1);
    const std::uint64_t kind = random.below(3);
    if (kind < 2) {
      elements.sort(first, length, kind == 0);
    } else {
      for (std::size_t i = 1; i < length; ++i) elements.copy(first + i, first);
    }
  }
}

/// The special values that may replace an element of an input.
class Choice {
 public:
  Choice(const Generator& generator, Dtype dtype, bool with_common_values) {
    const SpecialValues& special = generator.special;
    if (special.equal) kinds_.push_back({Kind::kEqual});
    if (generator.distribution == Distribution::kIntegers) {
      if (with_common_values) add_integers(generator, dtype);
    } else {
      add_reals(generator, dtype, with_common_values);
    }
    if (special.limits) add_limits(dtype);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (special.infinity) add_numbers({-kInfinity, kInfinity});
    if (special.nan) add_numbers({std::numeric_limits<double>::quiet_NaN()});
  }

  [[nodiscard]] std::size_t size() const { return kinds_.size(); }

  void put(std::size_t number, Elements& elements, std::size_t i, Random& random) const {
    const Entry& entry = kinds_[number];
    if (entry.kind == Kind::kEqual) {
      elements.copy(i, i > 0 ? i - 1 : 1);
    } else if (entry.kind == Kind::kBits) {
      elements.put_bits(i, entry.bits);
    } else if (entry.kind == Kind::kDenormal) {
      elements.put(i, entry.value * static_cast<double>(1 + random.below(entry.bits)));
    } else {
      elements.put(i, entry.value);
    }
  }

 private:
  enum class Kind { kNumber, kBits, kDenormal, kEqual };
  struct Entry {
    Kind kind;
    double value = 0;        ///< kNumber: the value; kDenormal: the smallest denormal
    std::uint64_t bits = 0;  ///< kBits: the integer; kDenormal: the number of denormals
  };

  void add_numbers(std::initializer_list<double> values) {
    for (const double value : values) kinds_.push_back({Kind::kNumber, value});
  }

  void add_integers(const Generator& generator, Dtype dtype) {
    const IntegerRange& range = generator.integers;
    const auto add = [&](std::uint64_t bits) {
      const double value = range.is_signed ? static_cast<double>(static_cast<std::int64_t>(bits))
                                           : static_cast<double>(bits);
      kinds_.push_back({is_floating(dtype) ? Kind::kNumber : Kind::kBits, value, bits});
    };
    const bool has_zero =
        range.is_signed ? static_cast<std::int64_t>(range.high) >= 0 : range.low == 0;
    if (generator.special.zero && has_zero) add(0);
    if (!generator.special.ends) return;
    add(range.low);
    add(range.high);
  }

  void add_reals(const Generator& generator, Dtype dtype, bool with_common_values) {
    const Extremes range = extremes_of(generator, dtype);
    if (generator.special.zero && with_common_values && range.low <= 0 && range.high >= 0) {
      add_numbers({0});
      if (range.low < 0) add_numbers({-0.0});
    }
    if (generator.special.denormal && is_floating(dtype)) {
      const double smallest = smallest_denormal(dtype);
      // Uses only the smallest denormals. In f32 and f64, their reciprocals overflow, as the
      // reciprocal of 0 does, so that a kernel that flushes denormals to zero computes the same
      // reciprocals as any other kernel.
      constexpr std::uint64_t kMost = 1023;
      const std::uint64_t most = std::min(kMost, whole_range(dtype).above / 2 - 1);
      const double largest = smallest * static_cast<double>(most);
      if (range.low <= smallest && largest <= range.high)
        kinds_.push_back({Kind::kDenormal, smallest, most});
      if (range.low <= -largest && -smallest <= range.high)
        kinds_.push_back({Kind::kDenormal, -smallest, most});
    }
    if (generator.special.ends && with_common_values) add_numbers({range.low, range.high});
  }

  void add_limits(Dtype dtype) {
    if (is_floating(dtype)) return add_numbers({-largest_finite(dtype), largest_finite(dtype)});
    const WholeRange range = whole_range(dtype);
    kinds_.push_back({Kind::kBits, 0, 0 - range.below});
    kinds_.push_back({Kind::kBits, 0, range.above});
  }

  std::vector<Entry> kinds_;
};

}  // namespace

void put_special_values(std::span<std::byte> data, const Generator& generator, Dtype dtype,
                        const Draw& draw) {
  Elements elements(data, dtype);
  const std::size_t count = elements.count();
  if (count < kFewestElements) return;
  Random random(mix_seed(draw.seed, kStream));
  if (generator.special.runs && draw.with_runs) put_runs(elements, random);
  const Choice choice(generator, dtype, draw.with_common_values);
  if (choice.size() == 0) return;
  // A short input gets each special value once; an input of fewer than kMostOf elements per special
  // value gets only some special values.
  constexpr std::size_t kMostOf = 8;
  const std::size_t few = std::min(choice.size(), count / kMostOf);
  const std::size_t number = std::max(few, count / kElementsPerSpecial);
  const std::size_t start = random.below(choice.size());
  for (std::size_t i = 0; i < number; ++i) {
    choice.put((start + i) % choice.size(), elements, random.below(count), random);
  }
}

}  // namespace evo
