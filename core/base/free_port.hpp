// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kymo {

/// First port of Linux's default ephemeral range.
inline constexpr int kFirstOutgoingPort = 32'768;

/// Returns a free IPv4 TCP port, on the loopback interface or on all interfaces. Prefers ports below the ephemeral
/// range, so that no outgoing connection takes the port before it is used. Throws Error if no port is free.
std::uint16_t free_port(bool everywhere = false);

}  // namespace kymo
