#pragma once

#include <string>

#include "engine/core/error.hpp"
#include "engine/worker/file_descriptor.hpp"

namespace evo {

/// A host and a port, written "node1:4711", "0.0.0.0:0" or "[::1]:4711".
struct HostPort {
  std::string host;
  std::string port;
};

/// Parses HOST:PORT. Throws InputError if `text` has another form; the message begins with
/// `option`.
[[nodiscard]] HostPort parse_host_port(const std::string& option, const std::string& text);
[[nodiscard]] std::string to_string(const HostPort& address);

/// Opens a socket that listens on `address`. Throws InputError if the socket cannot be opened.
[[nodiscard]] FileDescriptor listen_on(const HostPort& address);
/// The port on which `socket` listens: the actual port, even if port 0 (any free port) was
/// requested.
[[nodiscard]] std::string port_of(const FileDescriptor& socket);
/// The next incoming connection, as a non-blocking socket; not open if no connection waits.
[[nodiscard]] FileDescriptor accept_from(const FileDescriptor& socket);
/// A non-blocking socket connected to `address`; not open if none of the host's IP addresses
/// answers within `limit_ms` each.
[[nodiscard]] FileDescriptor connect_to(const HostPort& address, int limit_ms);
/// The name of this machine.
[[nodiscard]] std::string host_name();

}  // namespace evo
