#pragma once

#include <string>

#include "engine/core/error.hpp"
#include "engine/worker/file_descriptor.hpp"

namespace evo {

/// "node1:4711", "0.0.0.0:0", "[::1]:4711".
struct HostPort {
  std::string host;
  std::string port;
};

/// Throws InputError, which begins with `option`.
[[nodiscard]] HostPort parse_host_port(const std::string& option, const std::string& text);
[[nodiscard]] std::string to_string(const HostPort& address);

/// A socket that waits for connections. Throws InputError.
[[nodiscard]] FileDescriptor listen_on(const HostPort& address);
/// The port of a listening socket; the actual one, if port 0 (any free port) was requested.
[[nodiscard]] std::string port_of(const FileDescriptor& socket);
/// The next connection, which is non-blocking; invalid if there is none now.
[[nodiscard]] FileDescriptor accept_from(const FileDescriptor& socket);
/// A non-blocking connection; invalid if nobody answers within `limit_ms`.
[[nodiscard]] FileDescriptor connect_to(const HostPort& address, int limit_ms);
/// The name of this machine.
[[nodiscard]] std::string host_name();

}  // namespace evo
