#include "engine/core/file_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "engine/core/error.hpp"
#include "engine/core/missing_file.hpp"
#include "engine/core/protected_file.hpp"

namespace evo {
namespace {

/// A part of this size fits in the L2 cache of a CPU core, and is copied to a GPU efficiently.
constexpr std::size_t kLargestPart = 1 << 20;
constexpr std::size_t kSmallestPart = 1 << 12;

}  // namespace

FileReader::FileReader(std::filesystem::path file) : file_(std::move(file)) {
  // Special files are rejected before opening, because opening a pipe may block for ever.
  require_no_special_file(file_, "read");
  std::error_code ignored;
  stream_.open(file_, std::ios::binary);
  if (!stream_ || std::filesystem::is_directory(file_, ignored)) {
    throw InputError(file_.string() +
                     ": cannot be read: " + (stream_ ? "it is a folder" : std::strerror(errno)) +
                     missing_file_hint(file_));
  }
  const std::uintmax_t size = std::filesystem::file_size(file_, ignored);
  if (!ignored) size_ = size;
  part_.resize(std::clamp<std::uint64_t>(size_ + 1, kSmallestPart, kLargestPart));
}

std::string_view FileReader::next() {
  if (!stream_) return {};
  stream_.read(part_.data(), static_cast<std::streamsize>(part_.size()));
  if (stream_.bad()) throw InputError(file_.string() + ": cannot be read: " + std::strerror(errno));
  return std::string_view(part_).substr(0, static_cast<std::size_t>(stream_.gcount()));
}

}  // namespace evo
