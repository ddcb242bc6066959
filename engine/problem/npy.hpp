#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

/// The elements of a NumPy file (.npy, versions 1 to 3, little endian, C order, any shape), as
/// `dtype`. A file of the same type is taken as it is; another type of numbers is converted, floats
/// rounded to nearest; raw bytes of the element's size (what NumPy makes of 8-bit floats and bf16)
/// are taken as they are.
/// Throws InputError naming the file: not such a file, not `count` elements, a value that an
/// integer `dtype` does not hold.
[[nodiscard]] std::vector<std::byte> read_npy(const std::filesystem::path& file, Dtype dtype,
                                              std::size_t count);

/// Writes `bytes` as a flat array. What NumPy has no type for (bf16 and 8-bit floats) is written as
/// float32, which holds every value. Throws InputError when the file cannot be written.
void write_npy(const std::filesystem::path& file, Dtype dtype, std::span<const std::byte> bytes);

}  // namespace evo
