#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "engine/core/content_parts.hpp"
#include "engine/problem/dtype.hpp"

namespace evo {

/// Reads the elements of a NumPy file (.npy, versions 1 to 3, little endian, C order, any shape) as
/// `dtype`. Elements of type `dtype` are copied. Elements of another number type are converted;
/// floats are rounded to nearest, and large numbers become the largest finite number of a type that
/// saturates (TopExponent). Elements of raw bytes ('|V1', '|V2', '<f1') are copied if they have the
/// size of `dtype`, because NumPy stores 8-bit floats and bf16 in this form. Throws InputError
/// naming the file if it has another format, does not have `count` elements, or has a value that
/// `dtype` cannot hold.
[[nodiscard]] std::vector<std::byte> read_npy(const std::filesystem::path& file, Dtype dtype,
                                              std::size_t count);

/// Like read_npy(), but passes the elements to `take` in parts. Elements that need no conversion
/// are passed on while the file is read, so that there is no copy of the whole content. The format
/// and the size of the file are checked before the first part.
void read_npy_parts(const std::filesystem::path& file, Dtype dtype, std::size_t count,
                    const TakePart& take);

/// Writes `bytes` as a one-dimensional array. Types that NumPy lacks (bf16 and 8-bit floats) are
/// written as float32, which represents all their values. Throws InputError if the file cannot be
/// written.
void write_npy(const std::filesystem::path& file, Dtype dtype, std::span<const std::byte> bytes);

}  // namespace evo
