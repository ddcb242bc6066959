#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/worker/byte_stream.hpp"

// The only file that knows OpenSSL is tls.cpp.

struct ssl_ctx_st;

namespace evo {

enum class TlsSide { kServer, kClient };

/// Connections by TLS 1.3 with a key that both sides have beforehand: no certificates, no
/// resumption, no early data. A side without the key never gets past the handshake.
class TlsContext {
 public:
  /// `key`: 32 bytes. Throws MissingError where the library refuses.
  TlsContext(TlsSide side, std::vector<std::uint8_t> key);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// The handshake happens while the stream is read. `socket` must not block; the context must
  /// outlive the stream.
  [[nodiscard]] std::unique_ptr<ByteStream> over(FileDescriptor socket) const;

 private:
  TlsSide side_;
  std::vector<std::uint8_t> key_;
  ssl_ctx_st* context_;
};

}  // namespace evo
