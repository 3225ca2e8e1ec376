// SPDX-License-Identifier: Apache-2.0

#include "base/tcp.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.hpp"

namespace kymo {
namespace {

/// A socket that listens on an IPv4 address of the loopback interface.
class Listener {
 public:
  Listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, generic, size) != 0 || listen(socket_, 0) != 0) throw Error("cannot listen");
    getsockname(socket_, generic, &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(socket_); }
  std::uint16_t port() const { return port_; }

 private:
  int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
};

std::string failure(const std::string& host, std::uint16_t port, int wait_ms = -1) {
  try {
    close(connect_to(host, port, wait_ms));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Connect, ReturnsABlockingSocket) {
  const Listener listener;
  const int connected = connect_to("127.0.0.1", listener.port());
  EXPECT_EQ(fcntl(connected, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(connected, F_GETFD) & FD_CLOEXEC, 0);
  close(connected);
}

TEST(Connect, TriesEveryAddressOfAHost) {
  const Listener listener;  // not on ::1, which localhost may also name
  EXPECT_EQ(failure("localhost", listener.port()), "");
}

TEST(Connect, GivesTheReason) {
  std::uint16_t port = 0;
  {
    const Listener closed;
    port = closed.port();
  }
  EXPECT_EQ(failure("127.0.0.1", port), "Connection refused");
  EXPECT_THAT(failure("no such host", port), testing::HasSubstr("not known"));
  EXPECT_THROW(resolve("no such host", 0), Error);
}

TEST(Connect, WaitsNoLongerThanAllowed) {
  const Listener listener;
  const int first = connect_to("127.0.0.1", listener.port());  // the queue of the listener is full
  EXPECT_EQ(failure("127.0.0.1", listener.port(), 50), "Connection timed out");
  close(first);
}

}  // namespace
}  // namespace kymo
