#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

/// The elements of a NumPy file (.npy, versions 1 to 3, little endian, C order, any shape), as
/// `dtype`. A file of the same type is copied. Another number type is converted, with floats
/// rounded to nearest. Raw bytes of the element's size (the form in which NumPy stores 8-bit floats
/// and bf16) are copied. Throws InputError naming the file: if it has another format, does not have
/// `count` elements, or has a value outside of an integer `dtype`.
[[nodiscard]] std::vector<std::byte> read_npy(const std::filesystem::path& file, Dtype dtype,
                                              std::size_t count);

/// Writes `bytes` as a one-dimensional array. Types that NumPy lacks (bf16 and 8-bit floats) are
/// written as float32, which represents all their values. Throws InputError if the file cannot be
/// written.
void write_npy(const std::filesystem::path& file, Dtype dtype, std::span<const std::byte> bytes);

}  // namespace evo
