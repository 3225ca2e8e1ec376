// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>

namespace kymo {

/// Returns the addresses of a host for TCP, at least one. Throws Error with the resolver's reason.
std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> resolve(const std::string& host, std::uint16_t port);

/// Connects to the first address of a host that accepts the connection. Waits for each at most `wait_ms`, or as long as
/// the system does if that is negative. Returns a blocking socket. Throws Error with the reason of the last address.
int connect_to(const std::string& host, std::uint16_t port, int wait_ms = -1);

/// First port of Linux's default ephemeral range.
inline constexpr int kFirstOutgoingPort = 32'768;

/// Returns a free IPv4 TCP port, on the loopback interface or on all interfaces. Prefers ports below the ephemeral
/// range, so that no outgoing connection takes the port before it is used. Throws Error if no port is free.
std::uint16_t free_port(bool everywhere = false);

}  // namespace kymo
