#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace evo {

/// Limit of the unpacked size of a recorded space, which is a file with measured times of a space's
/// configurations: 256 MiB.
inline constexpr std::size_t kLargestRecording = std::size_t{1} << 28;

/// A file's content, decompressed if the file is gzip. Throws InputError naming the file if the
/// file cannot be read or decompressed, or if the content exceeds `most_bytes`. This limit exists
/// because a small file can unpack to any size.
[[nodiscard]] std::string read_plain_or_gzip(const std::filesystem::path& file,
                                             std::size_t most_bytes = kLargestRecording);

/// Compresses `content` to a gzip member without a time stamp, so that the same content gives the
/// same bytes.
[[nodiscard]] std::string gzip_compressed(std::string_view content);

}  // namespace evo
