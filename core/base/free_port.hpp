// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kymo {

/// Linux gives its ports from here on to outgoing connections, unless it is told otherwise.
inline constexpr int kFirstOutgoingPort = 32'768;

/// A TCP port of IPv4 that nobody listens on now: of the loopback interface, or of all of this machine's.
/// It lies, if it can, below those that the system gives to outgoing connections, so that none of those takes it before
/// it is used. Throws Error if there is none.
std::uint16_t free_port(bool everywhere = false);

}  // namespace kymo
