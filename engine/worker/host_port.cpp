#include "engine/worker/host_port.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace evo {
namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Resolves a host name; null if the name is unknown.
Addresses resolve(const HostPort& address, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

/// Disables Nagle's algorithm for a TCP socket, because it delays small messages.
void send_at_once(const FileDescriptor& socket) {
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool is_connected(const FileDescriptor& socket, int limit_ms) {
  pollfd entry{socket.get(), POLLOUT, 0};
  int error = 0;
  socklen_t size = sizeof error;
  return poll(&entry, 1, limit_ms) == 1 &&
         getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

HostPort parse_host_port(const std::string& option, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  HostPort address;
  if (colon != std::string::npos) {
    address = {text.substr(0, colon), text.substr(colon + 1)};
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
      address.host = address.host.substr(1, address.host.size() - 2);
    }
  }
  const bool is_number = !address.port.empty() && address.port.size() <= 5 &&
                         address.port.find_first_not_of("0123456789") == std::string::npos &&
                         std::stoi(address.port) <= 65535;
  if (!address.host.empty() && is_number) return address;
  throw InputError(option + " '" + text +
                   "': allowed: HOST:PORT, such as node1:4711, 0.0.0.0:0 (every interface, any "
                   "port) or [::1]:4711");
}

std::string to_string(const HostPort& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address.host + "]" : address.host) + ":" + address.port;
}

FileDescriptor listen_on(const HostPort& address) {
  const auto refused = [&](const std::string& why) {
    return InputError("--listen " + to_string(address) + ": " + why +
                      "; allowed: addresses of this machine and free ports");
  };
  const Addresses found = resolve(address, AI_PASSIVE);
  if (!found) throw refused("no such host");
  FileDescriptor listener(socket(found->ai_family, kSocketFlags, 0));
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    throw refused(std::strerror(errno));
  }
  return listener;
}

std::string port_of(const FileDescriptor& socket) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  std::array<char, NI_MAXSERV> port{};
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&bound), size, nullptr, 0, port.data(), port.size(),
                  NI_NUMERICSERV) != 0) {
    throw MissingError(std::string("--listen: ") + std::strerror(errno));
  }
  return port.data();
}

FileDescriptor accept_from(const FileDescriptor& socket) {
  FileDescriptor connection(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.is_open()) send_at_once(connection);
  return connection;
}

FileDescriptor connect_to(const HostPort& address, int limit_ms) {
  const Addresses found = resolve(address, 0);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    FileDescriptor connection(socket(one->ai_family, kSocketFlags, 0));
    const bool begins =
        connection.is_open() &&
        (connect(connection.get(), one->ai_addr, one->ai_addrlen) == 0 || errno == EINPROGRESS);
    if (!begins || !is_connected(connection, limit_ms)) continue;
    send_at_once(connection);
    return connection;
  }
  return {};
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace evo
