#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/problem/problem.hpp"

namespace evo {
namespace {

std::string number_text(double value) { return Json(value).dump(); }

double scalar_value(const Expression& expression, Dtype dtype, const std::string& name,
                    const Values& values) {
  const double value = expression.evaluate(values);
  if (is_floating(dtype)) {
    if (std::fabs(value) <= largest_finite(dtype)) return value;
  } else {
    // Compares with 2^n, the first number above the type's range, because a double cannot represent
    // the largest 64-bit integers, but it represents 2^63 and 2^64 exactly.
    const WholeRange range = whole_range(dtype);
    const double beyond = std::ldexp(1.0, static_cast<int>(std::bit_width(range.above)));
    if (value == std::floor(value) && value < beyond &&
        value >= -static_cast<double>(range.below)) {
      return value;
    }
  }
  throw ProblemError(expression.described(values) + ": the value of scalar '" + name + "' is " +
                     number_text(value) + ", which " + std::string(to_string(dtype)) +
                     " cannot hold; allowed: a " +
                     (is_floating(dtype) ? "number" : "whole number") + " within the type's range");
}

}  // namespace

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::kIn:
      return "in";
    case Direction::kOut:
      return "out";
    case Direction::kInOut:
      return "inout";
    case Direction::kWorkspace:
      return "workspace";
    case Direction::kScalar:
      return "scalar";
    case Direction::kTensorMap:
      return "tensor_map";
  }
  return "unknown";
}

std::size_t Argument::bytes(const Values& values, const Expression& extent) const {
  const double count = extent.evaluate(values);
  if (count < 0 || count != std::floor(count) ||
      count * static_cast<double>(size_of(dtype)) > kMostBytes) {
    throw ProblemError(extent.described(values) + ": the extent of argument '" + name + "' is " +
                       number_text(count) + "; allowed: a whole number of elements, in all at " +
                       "most 1 TiB (2^40 bytes)");
  }
  return static_cast<std::size_t>(count) * size_of(dtype);
}

std::size_t Argument::compared_bytes(const Values& values) const {
  const std::size_t all = bytes(values);
  if (!compared) return all;
  const double count = compared->evaluate(values);
  const std::size_t elements = all / size_of(dtype);
  const int least = elements == 0 ? 0 : 1;
  const bool is_whole = count >= least && count == std::floor(count);
  if (!is_whole || count > static_cast<double>(elements)) {
    throw ProblemError(
        fmt::format("{}: argument '{}': {} elements are to be compared; allowed: a whole number "
                    "from {} to its extent, {}",
                    compared->described(values), name, number_text(count), least, elements));
  }
  return static_cast<std::size_t>(count) * size_of(dtype);
}

TextureSpec Argument::texture_spec(const Values& values) const {
  const auto texels = [&](const char* key, const Expression& expression) {
    const double value = expression.evaluate(values);
    if (value == std::floor(value) && value >= 1 && value <= kMostBytes) {
      return static_cast<std::size_t>(value);
    }
    throw ProblemError(
        fmt::format("{}: the {} of texture '{}' is {}; allowed: a whole number of texels from 1",
                    expression.described(values), key, name, number_text(value)));
  };
  TextureSpec spec = texture->spec;
  spec.width = texels("width", texture->width);
  if (texture->height) spec.height = texels("height", *texture->height);
  try {
    check_texture(spec, texture_bytes(spec));
  } catch (const InputError& error) {
    throw ProblemError(error.what());
  }
  return spec;
}

std::size_t Argument::row_length(const Values& values) const {
  if (!row) return 0;
  const double length = row->evaluate(values);
  const std::size_t elements = compared_bytes(values) / size_of(dtype);
  const bool whole = length >= 1 && length == std::floor(length);
  if (!whole || std::fmod(static_cast<double>(elements), length) != 0) {
    throw ProblemError(row->described(values) + ": the row of argument '" + name + "' is " +
                       number_text(length) + "; allowed: a whole number that divides its " +
                       std::to_string(elements) + " elements");
  }
  return static_cast<std::size_t>(length);
}

double Argument::scalar(const Values& values) const {
  return scalar_value(size, dtype, name, values);
}

std::size_t Argument::parameter_bytes() const {
  if (tensor_map) return kTensorMapBytes;
  if (direction != Direction::kScalar) return sizeof(std::uint64_t);
  if (fields.empty()) return size_of(dtype);
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  const auto padded = [&](std::size_t to) { return (bytes + to - 1) / to * to; };
  for (const Field& field : fields) {
    alignment = std::max(alignment, size_of(field.dtype));
    bytes = padded(size_of(field.dtype)) + size_of(field.dtype);
  }
  return padded(alignment);
}

std::vector<std::byte> Argument::scalar_bytes(const Values& values) const {
  std::vector<std::byte> bytes;
  if (fields.empty()) {
    bytes.resize(size_of(dtype));
    encode(dtype, scalar(values), bytes.data());
    return bytes;
  }
  std::size_t alignment = 1;
  const auto pad = [&](std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
  for (const Field& field : fields) {
    const std::size_t field_bytes = size_of(field.dtype);
    alignment = std::max(alignment, field_bytes);
    pad(field_bytes);
    bytes.resize(bytes.size() + field_bytes);
    encode(field.dtype, scalar_value(field.value, field.dtype, name + "." + field.name, values),
           bytes.data() + bytes.size() - field_bytes);
  }
  pad(alignment);
  return bytes;
}

std::vector<std::pair<std::string, const Expression*>> Argument::scalar_expressions() const {
  std::vector<std::pair<std::string, const Expression*>> list;
  if (tensor_map) {
    const auto add = [&](const char* key, const std::vector<Expression>& expressions) {
      for (const Expression& expression : expressions) list.emplace_back(key, &expression);
    };
    add("dims", tensor_map->dims);
    add("strides", tensor_map->strides);
    add("box", tensor_map->box);
    add("element_strides", tensor_map->element_strides);
    list.emplace_back("swizzle", &tensor_map->swizzle);
    list.emplace_back("l2_promotion", &tensor_map->l2_promotion);
    return list;
  }
  if (direction != Direction::kScalar) return {};
  if (fields.empty()) return {{"value", &size}};
  for (const Field& field : fields) list.emplace_back("fields." + field.name, &field.value);
  return list;
}

}  // namespace evo
