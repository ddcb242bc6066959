#include "engine/intake/element_type.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <sstream>

#include "engine/problem/dtype.hpp"

namespace evo {
namespace {

using Names = std::map<std::string, Dtype, std::less<>>;

ElementType made(Dtype dtype, int lanes) {
  return {to_string(dtype), lanes, size_of(dtype) * static_cast<std::size_t>(lanes)};
}

/// Looks up `name`, which may end with a number of lanes, as float4 does.
ElementType find(const std::string& name, const Names& scalars, const Names& vectors) {
  if (const auto found = scalars.find(name); found != scalars.end()) return made(found->second, 1);
  std::size_t digits = name.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
  const auto found = vectors.find(name.substr(0, digits));
  if (found == vectors.end() || digits == name.size() || name.size() - digits > 2) return {};
  return made(found->second, std::stoi(name.substr(digits)));
}

}  // namespace

ElementType element_type(std::string_view type) {
  // C++ names of types in addition to the column cpp of dtypes.def.
  static const Names scalars = {{"signed", Dtype::kI32},
                                {"signed int", Dtype::kI32},
                                {"unsigned", Dtype::kU32},
                                {"int unsigned", Dtype::kU32},
                                {"uint", Dtype::kU32},
                                {"uint32_t", Dtype::kU32},
                                {"int32_t", Dtype::kI32},
                                {"long", Dtype::kI64},
                                {"long int", Dtype::kI64},
                                {"unsigned long", Dtype::kU64},
                                {"unsigned long int", Dtype::kU64},
                                {"long long int", Dtype::kI64},
                                {"unsigned long long int", Dtype::kU64},
                                {"size_t", Dtype::kU64},
                                {"int64_t", Dtype::kI64},
                                {"uint64_t", Dtype::kU64},
                                {"char", Dtype::kI8},
                                {"int8_t", Dtype::kI8},
                                {"uint8_t", Dtype::kU8},
                                {"bool", Dtype::kU8},
                                {"short int", Dtype::kI16},
                                {"int16_t", Dtype::kI16},
                                {"unsigned short int", Dtype::kU16},
                                {"ushort", Dtype::kU16},
                                {"uint16_t", Dtype::kU16},
                                {"half", Dtype::kF16},
                                {"nv_bfloat16", Dtype::kBf16}};
  static const Names vectors = {
      {"float", Dtype::kF32},    {"double", Dtype::kF64},    {"int", Dtype::kI32},
      {"uint", Dtype::kU32},     {"long", Dtype::kI64},      {"ulong", Dtype::kU64},
      {"longlong", Dtype::kI64}, {"ulonglong", Dtype::kU64}, {"char", Dtype::kI8},
      {"short", Dtype::kI16},    {"ushort", Dtype::kU16},    {"uchar", Dtype::kU8},
      {"half", Dtype::kF16},     {"__half", Dtype::kF16}};
  // Drops "[4]" from a type such as "float (*) [4]", a pointer to rows of floats, whose elements
  // are floats.
  std::string plain(type.substr(0, type.find('[')));
  if (std::count(plain.begin(), plain.end(), '*') > 1) return {};
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return std::strchr("*&()", c) != nullptr; }, ' ');
  std::istringstream words(plain);
  std::string name;
  for (std::string word; words >> word;) {
    if (word == "const" || word == "volatile" || word == "struct" || word == "__restrict__")
      continue;
    name += (name.empty() ? "" : " ") + word;
  }
  if (name == "__nv_bfloat162" || name == "nv_bfloat162") return made(Dtype::kBf16, 2);
  for (const DtypeRow& row : dtype_rows()) {
    if (row.cpp == name) return made(row.dtype, 1);
  }
  return find(name, scalars, vectors);
}

ElementType t1_element_type(std::string_view type) {
  static const Names scalars = {
      {"int16", Dtype::kI16},  {"uint16", Dtype::kU16}, {"char", Dtype::kI8},
      {"uchar", Dtype::kU8},   {"short", Dtype::kI16},  {"ushort", Dtype::kU16},
      {"bool", Dtype::kU8},    {"int8", Dtype::kI8},    {"uint8", Dtype::kU8},
      {"int32", Dtype::kI32},  {"uint32", Dtype::kU32}, {"int64", Dtype::kI64},
      {"uint64", Dtype::kU64}, {"int", Dtype::kI32},    {"uint", Dtype::kU32},
      {"half", Dtype::kF16},   {"float", Dtype::kF32},  {"double", Dtype::kF64}};
  static const Names vectors = {
      {"half", Dtype::kF16}, {"float", Dtype::kF32}, {"double", Dtype::kF64}};
  return find(std::string(type), scalars, vectors);
}

bool is_integer_type(std::string_view dtype) {
  return std::ranges::any_of(dtype_rows(), [&](const DtypeRow& row) {
    return row.name == dtype && row.kind != NumberKind::kFloat;
  });
}

}  // namespace evo
