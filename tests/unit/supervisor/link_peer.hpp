// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "supervisor/launch_environment.hpp"

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
  void say(const Json& message) { write(framed(message.dump())); }
  std::string hear_body() {
    std::array<unsigned char, 4> header{};
    asio::read(socket_, asio::buffer(header));
    std::string body(header[0] | header[1] << 8 | header[2] << 16, '\0');
    asio::read(socket_, asio::buffer(body));
    return body;
  }
  bool has_input() { return socket_.available() > 0; }
  Json hear() { return Json::parse(hear_body()); }
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

inline Launch launch_of(int rank, std::uint16_t port) {
  Launch launch;
  launch.identity = "test 1";
  launch.rank = rank;
  launch.world = 2;
  launch.local_rank = rank;
  launch.local_world = 2;
  launch.gpu = rank + 4;  // the GPU of a process is independent of its local rank
  launch.leader_host = "localhost";
  launch.port = port;
  launch.token = "secret";
  launch.join_timeout_s = 20;
  return launch;
}

struct BadFrame {
  std::string bytes;
  std::string complaint;
};

}  // namespace kymo::supervisor
