// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>

#include "base/frame.hpp"
#include "supervisor/launcher_environment.hpp"
#include "unit/hang.hpp"

namespace kymo::supervisor {

namespace asio = boost::asio;
using asio::ip::tcp;

inline std::string framed(const std::string& body) {
  std::string bytes;
  for (std::size_t shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(body.size() >> shift & 0xFF));
  return bytes + body;
}

/// One end of a connection, blocking.
class Peer {
 public:
  explicit Peer(tcp::socket socket) : socket_(std::move(socket)) {}
  void write(const std::string& bytes) { asio::write(socket_, asio::buffer(bytes)); }
  void send_message(const Json& message) { write(framed(message.dump())); }
  Frame receive() {
    FrameDecoder decoder;
    for (;;) {
      const auto space = decoder.missing();
      asio::read(socket_, asio::buffer(space.data(), space.size()));
      if (auto frame = decoder.take(space.size())) return *frame;
    }
  }
  bool has_input() { return socket_.available() > 0; }
  Json receive_message() { return receive().message; }
  bool is_closed() {
    char byte = 0;
    boost::system::error_code failed;
    asio::read(socket_, asio::buffer(&byte, 1), failed);
    return static_cast<bool>(failed);
  }
  void close() { socket_.close(); }
  int release() { return socket_.release(); }

 private:
  tcp::socket socket_;
};

inline LauncherEnvironment launch_of(int rank, std::uint16_t port) {
  LauncherEnvironment launcher_env;
  launcher_env.identity = "test 1";
  launcher_env.rank = rank;
  launcher_env.world_size = 2;
  launcher_env.local_rank = rank;
  launcher_env.local_world_size = 2;
  launcher_env.gpu = rank + 4;  // the GPU of a process is independent of its local rank
  launcher_env.leader_host = "localhost";
  launcher_env.port = port;
  launcher_env.token = "secret";
  launcher_env.join_timeout_s = kHang_s;
  return launcher_env;
}

struct BadFrame {
  std::string bytes;
  std::string failure_reason;
};

}  // namespace kymo::supervisor
