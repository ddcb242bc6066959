#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/worker/byte_stream.hpp"

// Only tls.cpp includes OpenSSL.

struct ssl_ctx_st;

namespace evo {

enum class TlsSide { kServer, kClient };

/// Makes TLS 1.3 connections with a pre-shared key, without certificates, session resumption and
/// early data. A peer without the key cannot complete the handshake.
class TlsContext {
 public:
  /// `key`: 32 bytes. Throws MissingError if OpenSSL lacks TLS 1.3 with TLS_AES_128_GCM_SHA256.
  TlsContext(TlsSide side, std::vector<std::uint8_t> key);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// Returns an encrypted stream over a non-blocking socket. The handshake takes place while the
  /// stream is read. The TlsContext must outlive the stream.
  [[nodiscard]] std::unique_ptr<ByteStream> over(FileDescriptor socket) const;

 private:
  TlsSide side_;
  std::vector<std::uint8_t> key_;
  ssl_ctx_st* context_;
};

}  // namespace evo
