#include "engine/core/gzip.hpp"

#include <zlib.h>

#include <array>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

constexpr int kGzip = 15 + 16;  // zlib: largest window, gzip header
constexpr std::size_t kChunk = 1 << 16;

bool is_gzip(std::string_view content) {
  return content.size() > 2 && content[0] == '\x1f' && content[1] == '\x8b';
}

Bytef* bytes_of(std::string_view text) {
  // Casts away const, because zlib's interface is not const-correct; zlib only reads its input.
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

std::string inflated(std::string_view content, const std::string& file, std::size_t most_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) throw InputError(file + ": zlib cannot start");
  stream.next_in = bytes_of(content);
  stream.avail_in = static_cast<uInt>(content.size());
  std::string text;
  std::array<char, kChunk> chunk;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = chunk.size();
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(chunk.data(), chunk.size() - stream.avail_out);
    if (text.size() > most_bytes) {
      inflateEnd(&stream);
      throw InputError(file + ": holds more than " + std::to_string(most_bytes) +
                       " bytes after unpacking, the allowed maximum");
    }
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw InputError(file + ": damaged or truncated gzip data");
  return text;
}

}  // namespace

std::string read_plain_or_gzip(const std::filesystem::path& file, std::size_t most_bytes) {
  std::string content = read_text_file(file, most_bytes);
  return is_gzip(content) ? inflated(content, file.string(), most_bytes) : content;
}

std::string gzip_compressed(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error(ExitCode::kMissing, "zlib cannot start");
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = bytes_of(content);
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw Error(ExitCode::kMissing, "zlib cannot compress");
  return packed;
}

}  // namespace evo
