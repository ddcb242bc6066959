#include "engine/worker/worker_gate.hpp"

#include <sys/socket.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr int kStartLimitMs = 10000;

/// Waits for a packet from the gateway. Throws MissingError if none arrives within kStartLimitMs.
Packet wait_for_packet(PacketSocket& packets) {
  pollfd entry = packets.interest();
  ::poll(&entry, 1, kStartLimitMs);
  if (auto packet = packets.receive()) return *std::move(packet);
  throw MissingError("evo-worker gateway does not start; check that evo-worker --version works");
}

}  // namespace

WorkerGate::Started WorkerGate::start(const std::filesystem::path& program) {
  auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
  ChildProcess process(program, {"gateway"}, {}, std::move(theirs));
  return {PacketSocket(std::move(ours)), std::move(process)};
}

WorkerGate::WorkerGate(const std::filesystem::path& program, const std::string& address,
                       const std::string& key)
    : WorkerGate(start(program)) {
  packets_.send({{{"listen", address}, {"key", key}}});
  const nlohmann::json answer = wait_for_packet(packets_).message;
  if (answer.contains("error")) {
    throw Error(static_cast<ExitCode>(answer.at("code").get<int>()),
                answer.at("error").get<std::string>());
  }
  address_ = answer.at("listening").get<std::string>();
}

WorkerGate::~WorkerGate() {
  packets_.close();  // the gateway detects this and dismisses the workers
  process_.kill(true);
}

std::optional<WorkerGate::Notice> WorkerGate::take() {
  while (auto packet = packets_.receive()) {
    if (auto notice = notice_of(*std::move(packet))) return notice;
  }
  if (packets_.is_open()) return std::nullopt;
  throw MissingError("evo-worker gateway has ended, so workers on other hosts cannot be reached");
}

std::optional<WorkerGate::Notice> WorkerGate::notice_of(Packet packet) {
  const nlohmann::json& message = packet.message;
  if (message.contains("refused")) {
    return Refused{message.at("refused").get<std::string>()};
  }
  if (message.contains("joined")) {
    auto host =
        std::make_shared<RemoteHost>(message.at("joined").get<WorkerIdentity>(),
                                     std::make_unique<SocketStream>(std::move(packet.descriptor)));
    hosts_[message.at("id").get<std::uint64_t>()] = host;
    return Joined{std::move(host)};
  }
  const auto found = hosts_.find(message.at("left").get<std::uint64_t>());
  if (found == hosts_.end()) return std::nullopt;
  Left left{std::move(found->second), message.at("why").get<std::string>()};
  hosts_.erase(found);
  return left;
}

}  // namespace evo
