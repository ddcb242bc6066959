#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace evo {

/// Packs texts into Zstandard frames (RFC 8878) with a checksum of their content, which the program
/// `zstd -d` unpacks as well. Keeps its working memory between calls; not thread-safe.
class ZstdFrames {
 public:
  ZstdFrames();
  ~ZstdFrames();
  ZstdFrames(const ZstdFrames&) = delete;
  ZstdFrames& operator=(const ZstdFrames&) = delete;

  /// One frame; throws std::runtime_error when the library fails, for want of memory.
  [[nodiscard]] std::string pack(std::string_view content);

  /// What pack() was given; nothing when `frame` is not exactly one whole, undamaged frame.
  [[nodiscard]] std::optional<std::string> unpack(std::string_view frame);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };

  std::unique_ptr<ZSTD_CCtx_s, Free> packer_;
  std::unique_ptr<ZSTD_DCtx_s, Free> unpacker_;
  std::string piece_;  ///< of what is being unpacked
};

}  // namespace evo
