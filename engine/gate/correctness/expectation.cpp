#include "engine/gate/correctness/expectation.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace evo {
namespace {

template <typename T>
T load(const std::byte* source) {
  T value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

}  // namespace

Expectation::Expectation(Dtype dtype, std::vector<std::byte> bytes)
    : dtype_(dtype), bytes_(std::move(bytes)), values_(decode_all(dtype, bytes_)) {}

std::span<const std::byte> Expectation::element(std::size_t index) const {
  return std::span(bytes_).subspan(index * size_of(dtype_), size_of(dtype_));
}

std::string element_text(Dtype dtype, const std::byte* element) {
  if (dtype == Dtype::kI64) return std::to_string(load<std::int64_t>(element));
  if (dtype == Dtype::kU64) return std::to_string(load<std::uint64_t>(element));
  const double value = decode(dtype, element);
  if (!is_floating(dtype)) return std::to_string(static_cast<std::int64_t>(value));
  if (std::isnan(value)) return "nan";  // not "-nan", because a NaN's sign means nothing
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace evo
