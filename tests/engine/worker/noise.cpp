#include "tests/engine/worker/noise.hpp"

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/worker/frame_stream.hpp"
#include "engine/worker/run_key.hpp"
#include "engine/worker/tls.hpp"
#include "engine/worker/worker_identity.hpp"

namespace evo {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr int kDialLimitMs = 5000;
constexpr std::chrono::seconds kPortsLimit{60};
constexpr std::chrono::milliseconds kHandshakeLimit{2000};
/// How long to wait until the gateway closes the connection. After an incomplete frame, the gateway
/// waits for the rest of the frame and does not close the connection.
constexpr std::chrono::milliseconds kVerdictLimit{3};

class Noise {
 public:
  explicit Noise(const NoiseOptions& options)
      : options_(options),
        random_(options.seed),
        tls_(TlsSide::kClient, key_bytes(options.key, "the key")) {
    WorkerIdentity identity;
    identity.version = options.version;
    identity.role = "compile";
    identity.host = "noise";
    greeting_ = encode_frame({{"hello", identity}}, FrameKind::kControl);
    const nlohmann::json ended = {{"killed_from_outside", false}, {"text", "x"}, {"exit_code", 1}};
    answers_ = {encode_frame({{"version", "noise"}}),
                encode_frame({{"compiled", {{"ptx", to_binary("ptx")}, {"cubin", to_binary("")}}},
                              {"dependencies", nlohmann::json::array()}}),
                encode_frame({{"ended", ended}}, FrameKind::kControl),
                encode_frame({{"time_ns", 17}}, FrameKind::kControl),
                encode_frame({{"beat", 1}}, FrameKind::kControl)};
  }

  NoiseCount send_all() {
    for (std::size_t i = 0; i < options_.frames; ++i) {
      constexpr std::size_t kKinds = 4;
      if (i % kKinds == 0) {
        ++count_.without_key;
        call_without_key();
      } else if (i % kKinds == 1) {
        ++count_.answers;
        call(greeting_, changed(answers_[random_.below(answers_.size())]));
      } else {
        ++count_.greetings;
        call(changed(greeting_), {});
      }
    }
    return count_;
  }

 private:
  /// Replaces up to eight bytes of a frame, and removes the end of half of the frames.
  Bytes changed(Bytes frame) {
    constexpr std::uint64_t kMostChanges = 8;
    for (auto changes = 1 + random_.below(kMostChanges); changes > 0; --changes) {
      frame[random_.below(frame.size())] = byte();
    }
    if (random_.below(2) == 0) frame.resize(1 + random_.below(frame.size()));
    return frame;
  }

  std::uint8_t byte() { return static_cast<std::uint8_t>(random_.below(256)); }

  /// Connects to the gateway. Retries for kPortsLimit, because the system reserves the port of each
  /// closed connection for a minute, so all ports may be in use.
  [[nodiscard]] FileDescriptor dial() const {
    const auto deadline = Clock::now() + kPortsLimit;
    while (Clock::now() < deadline) {
      FileDescriptor socket = connect_to(options_.gateway, kDialLimitMs);
      if (socket.is_open()) return socket;
      std::this_thread::sleep_for(kVerdictLimit);
    }
    throw MissingError("no answer from " + to_string(options_.gateway));
  }

  /// Sends bytes that look like the beginning of a TLS handshake, or like a frame.
  void call_without_key() {
    const FileDescriptor socket = dial();
    Bytes bytes = changed(greeting_);
    if (random_.below(2) == 0) {
      constexpr std::array<std::uint8_t, 3> kHandshake = {0x16, 0x03, 0x01};  // RFC 8446, 5.1
      bytes.insert(bytes.begin(), kHandshake.begin(), kHandshake.end());
    }
    (void)::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    pollfd entry{socket.get(), POLLIN, 0};
    (void)::poll(&entry, 1, static_cast<int>(kVerdictLimit.count()));
    char end = 0;
    if (entry.revents != 0 && ::recv(socket.get(), &end, 1, MSG_DONTWAIT) <= 0) ++count_.closed;
  }

  void call(const Bytes& first, const Bytes& second) {
    FrameStream wire(tls_.over(dial()));
    (void)wire.send_frame(first);
    if (!second.empty()) (void)wire.send_frame(second);
    auto deadline = Clock::now() + kHandshakeLimit;
    bool is_sent = false;
    while (wire.is_open() && Clock::now() < deadline) {
      pollfd entry = wire.interest();
      (void)::poll(&entry, 1, 1);
      try {
        while (wire.poll_frame()) {
        }
      } catch (const Error&) {
        break;
      }
      if (is_sent || wire.waiting_bytes() > 0) continue;
      is_sent = true;
      deadline = Clock::now() + kVerdictLimit;
    }
    if (!wire.is_open()) ++count_.closed;
  }

  const NoiseOptions& options_;
  Random random_;
  TlsContext tls_;
  Bytes greeting_;
  std::vector<Bytes> answers_;
  NoiseCount count_;
};

}  // namespace

NoiseCount send_noise(const NoiseOptions& options) { return Noise(options).send_all(); }

}  // namespace evo
