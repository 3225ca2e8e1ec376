// SPDX-License-Identifier: Apache-2.0
#include "base/tcp.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "base/error.hpp"

namespace kymo {
namespace {

/// Returns 0 once the socket is connected, otherwise the error number.
int connect_socket(int fd, const addrinfo& address, int wait_ms) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waited{fd, POLLOUT, 0};
  int ready = 0;
  do ready = poll(&waited, 1, wait_ms);
  while (ready < 0 && errno == EINTR);
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  int failed = 0;
  socklen_t size = sizeof failed;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size);
  return failed;
}

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

std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
    throw Error(gai_strerror(error));
  return {found, &freeaddrinfo};
}

int connect_to(const std::string& host, std::uint16_t port, int wait_ms) {
  const auto addresses = resolve(host, port);
  int failed = 0;
  for (const addrinfo* address = addresses.get(); address; address = address->ai_next) {
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    failed = fd < 0 ? errno : connect_socket(fd, *address, wait_ms);
    if (failed == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0) return fd;
    if (fd >= 0) close(fd);
  }
  throw Error(std::strerror(failed));
}

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
