#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace evo {

/// Packs texts into Zstandard frames (RFC 8878) with a checksum of the text. `zstd -d` can unpack
/// these frames, too. An object keeps its working memory between calls and is not thread-safe.
class ZstdFrames {
 public:
  ZstdFrames();
  ~ZstdFrames();
  ZstdFrames(const ZstdFrames&) = delete;
  ZstdFrames& operator=(const ZstdFrames&) = delete;

  /// Packs `content` into one frame. Throws std::runtime_error if the library fails, for example
  /// for lack of memory.
  [[nodiscard]] std::string pack(std::string_view content);

  /// The text that was given to pack(); nullopt unless `frame` is exactly one whole, undamaged
  /// frame.
  [[nodiscard]] std::optional<std::string> unpack(std::string_view frame);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };

  std::unique_ptr<ZSTD_CCtx_s, Free> packer_;
  std::unique_ptr<ZSTD_DCtx_s, Free> unpacker_;
  std::string piece_;  ///< buffer for unpacking
};

}  // namespace evo
