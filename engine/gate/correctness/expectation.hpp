#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

/// The expected content of an output argument: the reference's bytes and its elements as doubles.
class Expectation {
 public:
  Expectation() = default;
  /// `bytes`: packed elements of `dtype`.
  Expectation(Dtype dtype, std::vector<std::byte> bytes);

  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size() / size_of(dtype_); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::span<const std::byte> element(std::size_t index) const;

  /// All elements as doubles. 64-bit integers are rounded; compare their bytes instead.
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  Dtype dtype_ = Dtype::kF32;
  std::vector<std::byte> bytes_;
  std::vector<double> values_;
};

/// One element as text for messages: integers with all digits, floating-point numbers with four
/// significant digits.
[[nodiscard]] std::string element_text(Dtype dtype, const std::byte* element);

}  // namespace evo
