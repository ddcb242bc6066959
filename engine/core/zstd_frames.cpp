#include "engine/core/zstd_frames.hpp"

#include <zstd.h>

#include <stdexcept>

namespace evo {
namespace {

/// Zstandard's compression level: higher levels take much longer but make PTX and cubins hardly
/// smaller; lower levels make them noticeably larger.
constexpr int kLevel = 8;

std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result) == 0) return result;
  throw std::runtime_error(std::string("zstd cannot pack a text: ") + ZSTD_getErrorName(result));
}

}  // namespace

void ZstdFrames::Free::operator()(ZSTD_CCtx_s* context) const noexcept { ZSTD_freeCCtx(context); }
void ZstdFrames::Free::operator()(ZSTD_DCtx_s* context) const noexcept { ZSTD_freeDCtx(context); }

ZstdFrames::ZstdFrames()
    : packer_(ZSTD_createCCtx()),
      unpacker_(ZSTD_createDCtx()),
      piece_(ZSTD_DStreamOutSize(), '\0') {
  if (!packer_ || !unpacker_)
    throw std::runtime_error("zstd could not allocate its working memory");
  checked(ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_compressionLevel, kLevel));
  checked(ZSTD_CCtx_setParameter(packer_.get(), ZSTD_c_checksumFlag, 1));
}

ZstdFrames::~ZstdFrames() = default;

std::string ZstdFrames::pack(std::string_view content) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(checked(
      ZSTD_compress2(packer_.get(), frame.data(), frame.size(), content.data(), content.size())));
  return frame;
}

std::optional<std::string> ZstdFrames::unpack(std::string_view frame) {
  // Decompresses in chunks instead of allocating the size that the frame states, because a damaged
  // frame may state any size.
  ZSTD_DCtx_reset(unpacker_.get(), ZSTD_reset_session_only);
  ZSTD_inBuffer in = {frame.data(), frame.size(), 0};
  std::string content;
  while (true) {
    ZSTD_outBuffer out = {piece_.data(), piece_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(unpacker_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return std::nullopt;
    content.append(piece_, 0, out.pos);
    const bool ended = left == 0;
    if (ended && in.pos == in.size) return content;
    const bool stuck = in.pos == in.size && out.pos < out.size;
    if (ended || stuck) return std::nullopt;
  }
}

}  // namespace evo
