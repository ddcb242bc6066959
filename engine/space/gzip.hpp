#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace evo {

/// A file's content, decompressed when it is gzip. Throws InputError naming the file.
[[nodiscard]] std::string read_plain_or_gzip(const std::filesystem::path& file);

/// `content` as a gzip member (without time stamp: the same content gives the same bytes).
[[nodiscard]] std::string gzip_compressed(std::string_view content);

}  // namespace evo
