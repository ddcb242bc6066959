#include "engine/worker/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <string_view>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr std::string_view kIdentity = "evo-worker";
constexpr const char* kCipher = "TLS_AES_128_GCM_SHA256";
constexpr unsigned char kCipherId[] = {0x13, 0x01};  // the id of kCipher, RFC 8446, B.4

/// The pre-shared key as an SSL_SESSION, the form that OpenSSL requires for TLS 1.3; null if memory
/// is short.
SSL_SESSION* session_of(SSL* connection) {
  const auto& key = *static_cast<const std::vector<std::uint8_t>*>(
      SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
  const SSL_CIPHER* cipher = SSL_CIPHER_find(connection, kCipherId);
  SSL_SESSION* session = SSL_SESSION_new();
  const bool is_made = session != nullptr && cipher != nullptr &&
                       SSL_SESSION_set1_master_key(session, key.data(), key.size()) == 1 &&
                       SSL_SESSION_set_cipher(session, cipher) == 1 &&
                       SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1;
  if (is_made) return session;
  SSL_SESSION_free(session);
  return nullptr;
}

/// Callback of the server: sets `session` to the pre-shared key if the server knows the client's
/// identity. For an unknown identity, `session` is null, and the handshake fails because the server
/// has no certificate.
int find_session(SSL* connection, const unsigned char* identity, std::size_t size,
                 SSL_SESSION** session) {
  const bool is_ours =
      std::equal(kIdentity.begin(), kIdentity.end(), identity, identity + size,
                 [](char ours, unsigned char theirs) { return ours == static_cast<char>(theirs); });
  *session = is_ours ? session_of(connection) : nullptr;
  return 1;
}

int use_session(SSL* connection, const EVP_MD* digest, const unsigned char** identity,
                std::size_t* size, SSL_SESSION** session) {
  *session = session_of(connection);
  const bool fits = *session != nullptr &&
                    (digest == nullptr ||
                     SSL_CIPHER_get_handshake_digest(SSL_SESSION_get0_cipher(*session)) == digest);
  if (!fits) {
    SSL_SESSION_free(*session);
    *session = nullptr;
    return 1;
  }
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *size = kIdentity.size();
  return 1;
}

class TlsStream final : public ByteStream {
 public:
  TlsStream(SSL* connection, FileDescriptor socket)
      : connection_(connection), socket_(std::move(socket)) {}
  ~TlsStream() override { SSL_free(connection_); }

  std::optional<std::size_t> read(std::span<std::uint8_t> target) override {
    std::size_t count = 0;
    ERR_clear_error();
    if (SSL_read_ex(connection_, target.data(), target.size(), &count) == 1) {
      reads_want_ = POLLIN;
      return count;
    }
    return wants_more(0, reads_want_);
  }

  std::optional<std::size_t> write(std::span<const std::uint8_t> bytes) override {
    std::size_t count = 0;
    ERR_clear_error();
    if (SSL_write_ex(connection_, bytes.data(), bytes.size(), &count) == 1) {
      writes_want_ = POLLOUT;
      return count;
    }
    return wants_more(0, writes_want_);
  }

  [[nodiscard]] pollfd interest(bool writes) const override {
    // During a TLS handshake, OpenSSL may have to write before it can read, and to read before it
    // can write.
    const int events = POLLIN | reads_want_ | (writes ? writes_want_ : 0);
    return {socket_.get(), static_cast<short>(events), 0};
  }

  void end_writing() override { (void)SSL_shutdown(connection_); }

  [[nodiscard]] bool was_refused() const override { return was_refused_; }

 private:
  /// Stores in `events` the events for which OpenSSL waits, and returns 0. Returns nullopt if the
  /// connection is closed.
  std::optional<std::size_t> wants_more(int result, int& events) {
    const int error = SSL_get_error(connection_, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      was_refused_ = was_refused_ || is_alert_of_handshake(error);
      return std::nullopt;
    }
    events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    return 0;
  }

  /// True if the peer sent a TLS alert during the handshake, which means that it refuses the key.
  /// If the connection is interrupted during the handshake, there is no alert.
  [[nodiscard]] bool is_alert_of_handshake(int error) const {
    return error == SSL_ERROR_SSL && SSL_is_init_finished(connection_) == 0 &&
           ERR_GET_REASON(ERR_peek_error()) > SSL_AD_REASON_OFFSET;
  }

  SSL* connection_;
  FileDescriptor socket_;
  bool was_refused_ = false;
  int reads_want_ = POLLIN;
  int writes_want_ = POLLOUT;
};

}  // namespace

TlsContext::TlsContext(TlsSide side, std::vector<std::uint8_t> key)
    : side_(side),
      key_(std::move(key)),
      context_(SSL_CTX_new(side == TlsSide::kServer ? TLS_server_method() : TLS_client_method())) {
  const bool is_ready =
      context_ != nullptr && SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION) == 1 &&
      SSL_CTX_set_ciphersuites(context_, kCipher) == 1 && SSL_CTX_set_num_tickets(context_, 0) == 1;
  if (!is_ready) throw MissingError("OpenSSL does not offer TLS 1.3 with " + std::string(kCipher));
  SSL_CTX_set_app_data(context_, &key_);
  SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
  // Lets OpenSSL read several records with one system call.
  constexpr std::size_t kReadBytes = std::size_t{64} << 10;
  SSL_CTX_set_read_ahead(context_, 1);
  SSL_CTX_set_default_read_buffer_len(context_, kReadBytes);
  if (side == TlsSide::kServer) {
    SSL_CTX_set_psk_find_session_callback(context_, find_session);
  } else {
    SSL_CTX_set_psk_use_session_callback(context_, use_session);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);  // no certificate can replace the key
  }
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

std::unique_ptr<ByteStream> TlsContext::over(FileDescriptor socket) const {
  SSL* connection = SSL_new(context_);
  if (connection == nullptr || SSL_set_fd(connection, socket.get()) != 1) {
    SSL_free(connection);
    throw MissingError("OpenSSL cannot make a connection");
  }
  if (side_ == TlsSide::kServer) {
    SSL_set_accept_state(connection);
  } else {
    SSL_set_connect_state(connection);
  }
  return std::make_unique<TlsStream>(connection, std::move(socket));
}

}  // namespace evo
