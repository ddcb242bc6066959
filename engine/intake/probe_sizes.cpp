#include "engine/intake/probe_sizes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace evo {
namespace {

constexpr std::int64_t kMostOfSmall = 64;

using Numbers = std::vector<std::int64_t>;

std::int64_t number(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

std::size_t count_of_large(const SizeTexts& variables) {
  return static_cast<std::size_t>(std::ranges::count_if(
      variables, [](const auto& variable) { return number(variable.second) > kMostOfSmall; }));
}

/// Small sizes to try for a shape variable that is at most 64 in the timed shape.
Numbers below(SizeKind kind, std::int64_t value) {
  static const Numbers kPrimes = {2,  3,  5,  7,  11, 13, 17, 19, 23,
                                  29, 31, 37, 41, 43, 47, 53, 59, 61};
  Numbers found;
  if (kind == SizeKind::kRagged) {
    for (const std::int64_t prime : kPrimes) {
      if (prime <= std::max<std::int64_t>(value, 3)) found.push_back(prime);
    }
    if (found.size() > 4) found.erase(found.begin(), found.end() - 4);
    return found;
  }
  found.push_back(value);
  while (found.size() < kProbes && found.back() % 2 == 0) found.push_back(found.back() / 2);
  return found;
}

/// The level of a shape variable, by the ratio of its value to the smallest value above 64 in the
/// timed shape: 0 below 4, 1 below 64, otherwise 2. A variable of a higher level usually gets a
/// larger size to probe, because a kernel may require that one size divides another.
std::size_t level_of(std::int64_t value, const SizeTexts& variables) {
  std::int64_t smallest = value;
  for (const auto& [unused, text] : variables) {
    if (number(text) > kMostOfSmall) smallest = std::min(smallest, number(text));
  }
  return value < 4 * smallest ? 0 : value < 64 * smallest ? 1 : 2;
}

/// Small sizes for a shape variable that is above 64 in the timed shape and has level `level`.
/// `large`: the number of shape variables above 64.
const Numbers& small_numbers(SizeKind kind, std::size_t large, std::size_t level) {
  using Levels = std::array<Numbers, 3>;
  static const Levels kRagged = {Numbers{37, 53, 83, 94, 41, 71, 62}, Numbers{211, 127, 173, 146},
                                 Numbers{401, 503, 307, 302}};
  static const std::array<Levels, 2> kRound = {
      Levels{Numbers{512, 1024, 1536}, {}, {}},
      Levels{Numbers{128, 256, 384}, Numbers{512, 384, 256}, Numbers{1024, 768, 1280}}};
  static const Levels kRoundOfMany = {Numbers{32, 64, 96}, Numbers{128, 192, 160},
                                      Numbers{256, 320, 224}};
  static const std::array<Levels, 2> kPower = {
      Levels{Numbers{1024, 4096, 2048}, {}, {}},
      Levels{Numbers{256, 128, 512}, Numbers{512, 1024, 256}, Numbers{2048, 1024, 4096}}};
  static const Levels kPowerOfMany = {Numbers{64, 32, 128}, Numbers{128, 256, 64},
                                      Numbers{256, 512, 128}};
  if (kind == SizeKind::kRagged) return kRagged[level];
  const bool is_round = kind == SizeKind::kRound;
  if (large > 2) return (is_round ? kRoundOfMany : kPowerOfMany)[level];
  return (is_round ? kRound : kPower)[large < 2 ? 0 : 1][level];
}

/// The largest prime number below `value`, which is at least 3.
std::int64_t prime_below(std::int64_t value) {
  const auto is_prime = [](std::int64_t number) {
    for (std::int64_t divisor = 2; divisor * divisor <= number; ++divisor) {
      if (number % divisor == 0) return false;
    }
    return true;
  };
  do --value;
  while (!is_prime(value));
  return value;
}

}  // namespace

std::string to_text(SizeKind kind) {
  return kind == SizeKind::kRagged  ? "that are prime numbers"
         : kind == SizeKind::kRound ? "that are multiples of a power of two"
                                    : "that are powers of two";
}

std::map<std::string, double> probe_sizes(SizeKind kind, const SizeTexts& variables,
                                          std::size_t probe) {
  const std::size_t large = count_of_large(variables);
  std::map<std::string, double> sizes;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::int64_t value = number(variables[i].second);
    const Numbers small = value > kMostOfSmall
                              ? small_numbers(kind, large, level_of(value, variables))
                              : below(kind, value);
    sizes[variables[i].first] = static_cast<double>(small[(i + probe) % small.size()]);
  }
  return sizes;
}

std::map<std::string, double> proof_sizes(SizeKind kind, const SizeTexts& variables,
                                          std::size_t proof, std::int64_t scale) {
  using Lists = std::array<std::array<Numbers, kProofs>, 3>;
  static const Lists kRagged = {{{Numbers{2503}, Numbers{4102}},
                                 {Numbers{1511, 701}, Numbers{2002, 502}},
                                 {Numbers{307, 149, 67}, Numbers{402, 127, 53}}}};
  static const Lists kRound = {{{Numbers{4608}, Numbers{7680}},
                                {Numbers{1536, 768}, Numbers{2560, 512}},
                                {Numbers{320, 128, 64}, Numbers{384, 160, 96}}}};
  static const Lists kPower = {{{Numbers{8192}, Numbers{4096}},
                                {Numbers{2048, 512}, Numbers{1024, 512}},
                                {Numbers{256, 128, 64}, Numbers{512, 64, 32}}}};
  const Lists& lists = kind == SizeKind::kRagged  ? kRagged
                       : kind == SizeKind::kRound ? kRound
                                                  : kPower;
  const std::size_t large = std::clamp<std::size_t>(count_of_large(variables), 1, 3);
  const Numbers& numbers = lists[large - 1][proof];
  std::map<std::string, double> sizes = probe_sizes(kind, variables, proof);
  SizeTexts sorted = variables;
  std::ranges::stable_sort(
      sorted, [](const auto& a, const auto& b) { return number(a.second) > number(b.second); });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (number(sorted[i].second) <= kMostOfSmall) continue;
    const std::int64_t value = numbers[std::min(i, numbers.size() - 1)] / scale;
    sizes[sorted[i].first] = static_cast<double>(value);
  }
  return sizes;
}

std::vector<std::string> small_shape(SizeKind kind, const SizeTexts& variables) {
  static const std::array<std::array<Numbers, 3>, 3> kRagged = {
      {{Numbers{1009}, {}, {}},
       {Numbers{101, 67}, Numbers{211, 127}, Numbers{1009, 503}},
       {Numbers{37, 29, 23}, Numbers{101, 67, 53}, Numbers{211, 127, 173}}}};
  const std::size_t large = count_of_large(variables);
  if (large == 0) return {};
  std::vector<std::string> values;
  std::size_t next = 0;
  for (const auto& [unused, text] : variables) {
    const std::int64_t value = number(text);
    if (value <= kMostOfSmall) {
      values.push_back(text);
      continue;
    }
    const std::size_t level = level_of(value, variables);
    const Numbers& numbers = kind == SizeKind::kRagged
                                 ? kRagged[std::min<std::size_t>(large, 3) - 1][level]
                                 : small_numbers(kind, large, level);
    const std::int64_t small = numbers[next++ % numbers.size()];
    values.push_back(std::to_string(small < value               ? small
                                    : kind == SizeKind::kRagged ? prime_below(value)
                                                                : value));
  }
  return values;
}

}  // namespace evo
