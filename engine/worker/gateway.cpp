#include "engine/worker/gateway.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>

#include "engine/worker/child_process.hpp"
#include "engine/worker/frame_stream.hpp"
#include "engine/worker/host_port.hpp"
#include "engine/worker/lease.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/packet_socket.hpp"
#include "engine/worker/run_key.hpp"
#include "engine/worker/tls.hpp"
#include "engine/worker/worker_identity.hpp"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

/// The greatest number of connections that are not authenticated yet, and the time limit for the
/// authentication of each.
constexpr std::size_t kMostStrangers = 64;
constexpr std::chrono::seconds kGreetingLimit{5};

/// The connection to a worker on another host.
struct Connection {
  explicit Connection(std::unique_ptr<ByteStream> bytes, Clock::time_point now)
      : wire(std::move(bytes), kLongestGreeting), last_sign(now), last_beat(now) {}

  FrameStream wire;
  std::unique_ptr<FrameStream> run = {};  ///< to the run; null until the worker is authenticated
  std::string name = {};
  Clock::time_point last_sign;
  Clock::time_point last_beat;
};

class Gateway {
 public:
  Gateway(std::string version, PacketSocket run, FileDescriptor listener,
          std::vector<std::uint8_t> key)
      : version_(std::move(version)),
        run_(std::move(run)),
        listener_(std::move(listener)),
        tls_(TlsSide::kServer, std::move(key)),
        events_(epoll_create1(EPOLL_CLOEXEC)) {}

  void serve() {
    while (true) {
      watch(run_.interest(), kRun);
      if (!run_.is_open()) break;
      watch({listener_.get(), static_cast<short>(may_accept() ? POLLIN : 0), 0}, kListener);
      std::array<epoll_event, 256> ready{};
      constexpr int kTickMs = 500;
      const int count =
          epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), kTickMs);
      for (int i = 0; i < count; ++i) handle(ready[static_cast<std::size_t>(i)].data.u64);
      look_at_clock();
    }
    for (auto& [id, connection] : connections_) dismiss(connection);
  }

 private:
  static constexpr std::uint64_t kRun = 0;
  static constexpr std::uint64_t kListener = 1;

  /// Handles an event. A connection to a worker has an even event id, and the socket that connects
  /// the same worker to the run has the next odd id.
  void handle(std::uint64_t id) {
    if (id == kRun) {
      run_.flush();
      (void)run_.receive();  // the run sends no more packets; receive() detects its end
    } else if (id == kListener) {
      accept_all();
    } else if (connections_.contains(id & ~std::uint64_t{1})) {
      pump_or_drop(id & ~std::uint64_t{1});
    }
  }

  [[nodiscard]] bool may_accept() const { return strangers_ < kMostStrangers; }

  void accept_all() {
    while (may_accept()) {
      FileDescriptor socket = accept_from(listener_);
      if (!socket.is_open()) return;
      const std::uint64_t id = next_id_;
      next_id_ += 2;
      connections_.emplace(id, Connection(tls_.over(std::move(socket)), Clock::now()));
      ++strangers_;
      pump_or_drop(id);
    }
  }

  void pump_or_drop(std::uint64_t id) {
    Connection& connection = connections_.at(id);
    std::string why;
    try {
      why = pump(id, connection);
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (!why.empty()) {
      drop(id, why);
      return;
    }
    pollfd wire = connection.wire.interest();
    if (connection.run) {
      pollfd run = connection.run->interest();
      if (connection.run->waiting_bytes() > kMostWaitingBytes) wire.events &= ~POLLIN;
      if (connection.wire.waiting_bytes() > kMostWaitingBytes) run.events &= ~POLLIN;
      watch(run, id + 1);
    }
    watch(wire, id);
  }

  /// Forwards all available frames. Returns the reason to end the connection; empty to continue.
  std::string pump(std::uint64_t id, Connection& connection) {
    FrameStream& wire = connection.wire;
    wire.write_waiting();
    if (!connection.run) {
      const auto frame = wire.poll_frame();
      if (frame) return greet(id, connection, decode_frame(*frame));
      return wire.is_open() ? "" : "it does not have the key of this run, or it disconnected";
    }
    FrameStream& run = *connection.run;
    run.write_waiting();
    while (run.waiting_bytes() <= kMostWaitingBytes) {
      const auto frame = wire.poll_frame();
      if (!frame) break;
      connection.last_sign = Clock::now();
      const bool is_beat =
          kind_of(*frame) == FrameKind::kControl && decode_frame(*frame).contains("beat");
      if (!is_beat) (void)run.send_frame(*frame);
    }
    while (wire.waiting_bytes() <= kMostWaitingBytes) {
      const auto frame = run.poll_frame();
      if (!frame) break;
      (void)wire.send_frame(*frame);
      connection.last_beat = Clock::now();
    }
    if (!wire.is_open()) return "the connection was closed";
    if (run.is_open()) return {};
    dismiss(connection);
    return "dismissed";
  }

  /// Handles the first frame of a worker, which contains its identity. Returns the reason to end
  /// the connection; empty to continue.
  std::string greet(std::uint64_t id, Connection& connection, nlohmann::json message) {
    make_printable(message);
    const auto identity = message.at("hello").get<WorkerIdentity>();
    connection.name = identity.role + " worker on " + identity.name();
    if (identity.protocol != kWorkerProtocol || identity.version != version_) {
      const auto text = [](const std::string& version, int protocol) {
        return "evo-tune " + version + " (protocol " + std::to_string(protocol) + ")";
      };
      const std::string why = "the worker belongs to " + text(identity.version, identity.protocol) +
                              " and the run to " + text(version_, kWorkerProtocol) +
                              "; install the same version on both hosts";
      (void)connection.wire.send({{"refused", why}}, FrameKind::kControl);
      return why;
    }
    auto [ours, theirs] = socket_pair(SOCK_STREAM);
    connection.run = std::make_unique<FrameStream>(std::make_unique<SocketStream>(std::move(ours)));
    connection.wire.set_longest(kLongestFrame);
    connection.last_sign = Clock::now();
    --strangers_;
    (void)connection.wire.send({{"welcome", true}}, FrameKind::kControl);
    run_.send({{{"joined", identity}, {"id", id}}, std::move(theirs)});
    return {};
  }

  /// Tells a worker to end, and then closes the connection to this worker for writing.
  static void dismiss(Connection& connection) {
    (void)connection.wire.send({{"op", "end"}}, FrameKind::kControl);
    connection.wire.end_writing();
  }

  void drop(std::uint64_t id, const std::string& why) {
    const Connection& connection = connections_.at(id);
    if (connection.run) {
      run_.send({{{"left", id}, {"why", why}}});
    } else {
      --strangers_;
      constexpr int kMostToldOf = 100;  // so that unauthenticated peers cannot fill a database
      if (!connection.name.empty() || ++told_of_ <= kMostToldOf) {
        run_.send({{{"refused", (connection.name.empty() ? "unknown worker" : connection.name) +
                                    ": " + why}}});
      }
    }
    interest_.erase(id);
    interest_.erase(id + 1);
    connections_.erase(id);  // closing a descriptor removes it from epoll
  }

  void look_at_clock() {
    const auto now = Clock::now();
    if (now < next_look_) return;
    next_look_ = now + kBeatEvery / 3;
    std::vector<std::uint64_t> silent;
    for (auto& [id, connection] : connections_) {
      const auto limit = connection.run ? kLease : std::chrono::milliseconds(kGreetingLimit);
      if (now > connection.last_sign + limit) {
        silent.push_back(id);
      } else if (connection.run && now > connection.last_beat + kBeatEvery) {
        (void)connection.wire.send({{"beat", 1}}, FrameKind::kControl);
        connection.last_beat = now;
        watch(connection.wire.interest(), id);
      }
    }
    for (const std::uint64_t id : silent) {
      drop(id, "the worker sent no message for " +
                   std::to_string(connections_.at(id).run ? kLease.count() / 1000
                                                          : kGreetingLimit.count()) +
                   " s");
    }
  }

  void watch(pollfd entry, std::uint64_t id) {
    if (entry.fd < 0) return;
    const auto known = interest_.find(id);
    if (known != interest_.end() && known->second == entry.events) return;
    epoll_event event = {};
    event.events = static_cast<std::uint16_t>(entry.events);  // the same bits as poll()'s
    event.data.u64 = id;
    epoll_ctl(events_.get(), known == interest_.end() ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, entry.fd,
              &event);
    interest_[id] = entry.events;
  }

  std::string version_;
  PacketSocket run_;
  FileDescriptor listener_;
  TlsContext tls_;
  FileDescriptor events_;
  std::map<std::uint64_t, Connection> connections_;
  std::map<std::uint64_t, short> interest_;  ///< as registered with epoll
  std::size_t strangers_ = 0;
  int told_of_ = 0;
  std::uint64_t next_id_ = 2;
  Clock::time_point next_look_;
};

/// Raises the process's limit of open file descriptors to the maximum that the system allows.
void allow_many_descriptors() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Packet first_packet(PacketSocket& run) {
  while (run.is_open()) {
    pollfd entry = run.interest();
    poll(&entry, 1, -1);
    if (auto packet = run.receive()) return *std::move(packet);
  }
  throw MissingError("evo-tune, which started this gateway, has ended");
}

}  // namespace

int serve_gateway(const std::string& version) {
  PacketSocket run(FileDescriptor(dup(STDIN_FILENO)));
  try {
    allow_many_descriptors();
    const nlohmann::json request = first_packet(run).message;
    HostPort address = parse_host_port("--listen", request.at("listen").get<std::string>());
    FileDescriptor listener = listen_on(address);
    address.port = port_of(listener);
    auto key = key_bytes(request.at("key").get<std::string>(), "the run's key");
    run.send({{{"listening", to_string(address)}}});
    Gateway(version, std::move(run), std::move(listener), std::move(key)).serve();
    return 0;
  } catch (const Error& error) {
    const int code = static_cast<int>(error.exit_code());
    run.send({{{"error", error.what()}, {"code", code}}});
    return code;
  }
}

}  // namespace evo
