// SPDX-License-Identifier: Apache-2.0
#include "base/free_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "base/error.hpp"

namespace kymo {
namespace {

/// Returns the first port of the ephemeral range.
int first_outgoing_port() {
  int first = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return first > 0 && first < 65'536 ? first : kFirstOutgoingPort;
}

/// Returns the port that a socket could be bound to, or 0 on failure. For port 0 the system chooses one.
std::uint16_t bound_port(std::uint32_t address, std::uint16_t port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return 0;
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  socket_address.sin_addr.s_addr = htonl(address);
  socket_address.sin_port = htons(port);
  socklen_t length = sizeof socket_address;
  auto* const generic = reinterpret_cast<sockaddr*>(&socket_address);
  const bool bound = bind(probe, generic, length) == 0 && getsockname(probe, generic, &length) == 0;
  close(probe);
  return bound ? ntohs(socket_address.sin_port) : std::uint16_t{0};
}

}  // namespace

std::uint16_t free_port(bool everywhere) {
  // Avoid ephemeral ports. The system may assign such a port to an outgoing connection before it is used, even to a
  // rank that tries to connect to it, which would then connect to itself.
  constexpr int kLowest = 10'000;
  constexpr int kAttempts = 200;
  const std::uint32_t address = everywhere ? INADDR_ANY : INADDR_LOOPBACK;
  std::random_device random;
  std::uniform_int_distribution<int> any(kLowest, std::max(first_outgoing_port(), kLowest + 1000) - 1);
  for (int attempt = 0; attempt < kAttempts; ++attempt)
    if (const std::uint16_t port = bound_port(address, static_cast<std::uint16_t>(any(random))); port != 0) return port;
  if (const std::uint16_t port = bound_port(address, 0); port != 0) return port;
  throw Error("no free TCP port");
}

}  // namespace kymo
