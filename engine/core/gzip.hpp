#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace evo {

/// Bytes that a recorded space may have, unpacked: 256 MiB.
inline constexpr std::size_t kLargestRecording = std::size_t{1} << 28;

/// A file's content, decompressed when it is gzip. Throws InputError naming the file, also when
/// there is more than `most_bytes`: a small file can unpack to whatever it likes.
[[nodiscard]] std::string read_plain_or_gzip(const std::filesystem::path& file,
                                             std::size_t most_bytes = kLargestRecording);

/// `content` as a gzip member (without time stamp: the same content gives the same bytes).
[[nodiscard]] std::string gzip_compressed(std::string_view content);

}  // namespace evo
