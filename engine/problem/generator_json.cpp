#include "engine/problem/generator_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace evo {
namespace {

/// A whole number: 64 bits and a sign.
struct Whole {
  bool is_negative = false;
  std::uint64_t magnitude = 0;

  [[nodiscard]] std::uint64_t bits() const { return is_negative ? 0 - magnitude : magnitude; }
  [[nodiscard]] bool operator>(const Whole& other) const {
    if (is_negative != other.is_negative) return other.is_negative;
    return is_negative ? magnitude < other.magnitude : magnitude > other.magnitude;
  }
};

std::string described(const WholeRange& range) {
  std::string text = range.below == 0 ? "" : "-";
  return text.append(std::to_string(range.below))
      .append(" to ")
      .append(std::to_string(range.above));
}

/// Reads the bound "low" or "high" of a generator as an exact integer, not as a double.
Whole read_whole(const JsonReader& reader, std::string_view key, Dtype dtype) {
  const WholeRange range = whole_range(dtype);
  const std::string allowed = "allowed for " + std::string(to_string(dtype)) +
                              " are whole numbers from " + described(range);
  const Json& value = reader.value(key);
  Whole whole;
  if (value.is_number_unsigned()) {
    whole.magnitude = value.get<std::uint64_t>();
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    whole = {number < 0, number < 0 ? 0 - static_cast<std::uint64_t>(number)
                                    : static_cast<std::uint64_t>(number)};
  } else {
    constexpr double kExact = 0x1.0p53;
    const double number = reader.number(key);
    if (number != std::floor(number) || std::fabs(number) > kExact) reader.fail(key, allowed);
    whole = {number < 0, static_cast<std::uint64_t>(std::fabs(number))};
  }
  if (whole.magnitude > (whole.is_negative ? range.below : range.above)) reader.fail(key, allowed);
  return whole;
}

Generator read_integers(const JsonReader& reader, Dtype dtype) {
  const Whole low = read_whole(reader, "low", dtype);
  const Whole high = read_whole(reader, "high", dtype);
  if (low > high) reader.fail("high", "allowed: more than low");
  if (!(high > low)) {
    reader.fail("high",
                "equals \"low\", so all elements would be equal; allowed: more than low, "
                "or {\"distribution\": \"constant\"}");
  }
  return {Distribution::kIntegers, 0, 0, {low.is_negative, low.bits(), high.bits()}};
}

bool is_within(Dtype dtype, double value) {
  if (is_floating(dtype)) return std::fabs(value) <= largest_finite(dtype);
  const WholeRange range = whole_range(dtype);
  // The largest u64 becomes 2^64 as a double, so numbers from 2^64 on are excluded separately.
  return value >= -static_cast<double>(range.below) &&
         (value <= static_cast<double>(range.above) && value < 0x1.0p64);
}

std::array<std::byte, 8> encoded(Dtype dtype, double value) {
  std::array<std::byte, 8> bytes{};
  encode(dtype, value, bytes.data());
  return bytes;
}

void require_fit(const JsonReader& reader, const Generator& generator, Dtype dtype) {
  const Extremes extremes = extremes_of(generator, dtype);
  for (const double value : {extremes.low, extremes.high}) {
    if (is_within(dtype, value)) continue;
    reader.fail("distribution", "reaches " + Json(value).dump() + ", which " +
                                    std::string(to_string(dtype)) +
                                    " cannot hold; allowed: values within the range of the type");
  }
  const bool is_constant = generator.distribution == Distribution::kConstant;
  if (is_constant && !is_floating(dtype) && generator.first != std::floor(generator.first)) {
    reader.fail("value", "allowed for " + std::string(to_string(dtype)) + ": a whole number");
  }
  if (!is_constant && encoded(dtype, extremes.low) == encoded(dtype, extremes.high)) {
    reader.fail("distribution", "every element would be the same " + std::string(to_string(dtype)) +
                                    "; allowed: a wider range, or "
                                    "{\"distribution\": \"constant\"}");
  }
}

struct SpecialWord {
  std::string_view word;
  bool SpecialValues::*value;
};

constexpr std::array<SpecialWord, 8> kSpecialWords = {{
    {"zero", &SpecialValues::zero},
    {"denormal", &SpecialValues::denormal},
    {"equal", &SpecialValues::equal},
    {"ends", &SpecialValues::ends},
    {"runs", &SpecialValues::runs},
    {"limits", &SpecialValues::limits},
    {"infinity", &SpecialValues::infinity},
    {"nan", &SpecialValues::nan},
}};

bool has_value(Dtype dtype, std::string_view word) {
  if (word == "infinity") return is_floating(dtype) && row_of(dtype).has_infinity();
  if (word == "nan" || word == "denormal") return is_floating(dtype);
  return true;
}

/// Inverts the flags of the special values that `key` ("with" or "without") lists, such as "nan";
/// throws for a value that `dtype` lacks, or whose flag is not `from` by default.
void set_special(const JsonReader& reader, std::string_view key, bool from, Dtype dtype,
                 SpecialValues& special) {
  const SpecialValues usual;
  std::string allowed;
  for (const SpecialWord& word : kSpecialWords) {
    if (usual.*word.value != from || !has_value(dtype, word.word)) continue;
    allowed.append(allowed.empty() ? "" : ", ").append(word.word);
  }
  for (const std::string& text : reader.strings(key)) {
    const auto* found = std::ranges::find(kSpecialWords, text, &SpecialWord::word);
    const bool is_allowed = found != kSpecialWords.end() && usual.*found->value == from &&
                            has_value(dtype, found->word);
    if (!is_allowed) {
      reader.fail(key,
                  "'" + text + "': allowed for " + std::string(to_string(dtype)) + ": " + allowed);
    }
    special.*found->value = !from;
  }
}

SpecialValues read_special(const JsonReader& reader, Dtype dtype) {
  SpecialValues special;
  set_special(reader, "with", false, dtype, special);
  set_special(reader, "without", true, dtype, special);
  return special;
}

}  // namespace

Generator parse_generator(const JsonReader& reader, Dtype dtype) {
  const std::string kind =
      reader.one_of("distribution", {"normal", "uniform", "integers", "constant"});
  Generator generator;
  if (kind == "integers") {
    generator = read_integers(reader, dtype);
  } else if (kind == "normal") {
    generator = {Distribution::kNormal, reader.number_or("mean", 0), reader.number_or("std", 1)};
    if (generator.second <= 0) {
      reader.fail("std",
                  "allowed: more than 0; an input of equal elements is "
                  "{\"distribution\": \"constant\"}");
    }
  } else if (kind == "constant") {
    generator = {Distribution::kConstant, reader.number("value"), 0};
  } else {
    generator = {Distribution::kUniform, reader.number("low"), reader.number("high")};
    if (generator.second <= generator.first) reader.fail("high", "allowed: more than low");
  }
  if (kind != "integers") require_fit(reader, generator, dtype);
  if (kind != "constant") generator.special = read_special(reader, dtype);
  reader.finish();
  return generator;
}

}  // namespace evo
