// SPDX-License-Identifier: Apache-2.0
#include "supervisor/control_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "unit/supervisor/link_peer.hpp"

namespace kymo::supervisor {
namespace {

namespace protocol = measure::protocol;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ControlServerTest : public testing::Test {
 protected:
  tcp::socket connect() {
    tcp::socket socket(loop_);
    socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), server_.port()));
    return socket;
  }
  static void write(tcp::socket& socket, const std::string& bytes) { asio::write(socket, asio::buffer(bytes)); }
  static void send_message(tcp::socket& socket, const Json& frame) { write(socket, framed(frame.dump())); }
  static Json receive_message(tcp::socket& socket) {
    std::array<unsigned char, 4> header{};
    asio::read(socket, asio::buffer(header));
    std::string body(header[0] | header[1] << 8 | header[2] << 16, '\0');
    asio::read(socket, asio::buffer(body));
    return Json::parse(body);
  }
  /// Runs the event loop until `ready` returns true or a generous deadline passes.
  template <typename Ready>
  bool run_until(Ready ready) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!ready() && std::chrono::steady_clock::now() < deadline) loop_.run_for(std::chrono::milliseconds(5));
    return ready();
  }
  /// True once the server has closed this connection.
  bool is_rejected(tcp::socket& socket) {
    socket.non_blocking(true);
    return run_until([&] {
      char byte = 0;
      boost::system::error_code failed;
      socket.read_some(asio::buffer(&byte, 1), failed);
      return failed == asio::error::eof || failed == asio::error::connection_reset;
    });
  }

  asio::io_context loop_;
  std::vector<std::string> events_;
  ControlServer server_{
      loop_,
      {[this](WorkerId id, const protocol::Hello&) { events_.push_back("hello " + std::to_string(id)); },
       [this](WorkerId id, const Frame& frame) {
         if (frame.message.contains("bad")) throw protocol_error();
         events_.push_back(std::to_string(id) + ": " + frame.message.dump() + frame.payload);
       },
       [this](WorkerId id, const std::string& error_message) {
         events_.push_back("closed " + std::to_string(id) + " " + error_message);
       }}};
  static Error protocol_error() { return Error("not like this"); }
};

TEST_F(ControlServerTest, ExchangesFramesWithAWorkerItExpects) {
  const std::string token = random_token();
  const WorkerId id = server_.expect(token, 2);
  auto socket = connect();
  send_message(socket, protocol::Hello{protocol::kVersion, token, 2, 77});
  send_message(socket, protocol::Progress{"load", -1, 0});
  ASSERT_TRUE(run_until([&] { return events_.size() == 2; }));
  EXPECT_EQ(events_[0], "hello " + std::to_string(id));
  EXPECT_THAT(events_[1], HasSubstr("\"stage\":\"load\""));
  server_.send(id, protocol::Released{4, true});
  server_.send(id, protocol::Exit{});
  loop_.run_for(std::chrono::milliseconds(20));
  EXPECT_EQ(receive_message(socket).get<protocol::Released>().sequence, 4);
  EXPECT_EQ(protocol::type_of(receive_message(socket)), "exit");
  socket.close();
  EXPECT_TRUE(run_until([&] { return events_.size() == 3; }));
  EXPECT_EQ(events_[2], "closed " + std::to_string(id) + " ");
}

TEST_F(ControlServerTest, CarriesPayloadsOfAuthenticatedWorkers) {
  const std::string token = random_token();
  const WorkerId id = server_.expect(token, 0);
  auto socket = connect();
  send_message(socket, protocol::Hello{protocol::kVersion, token, 0, 77});
  const std::string payload(5000, '\xff');
  write(socket, encode_frame(protocol::Gather{0, ""}, payload));
  ASSERT_TRUE(run_until([&] { return events_.size() == 2; }));
  EXPECT_EQ(events_[1], std::to_string(id) + ": " + R"({"type":"gather","sequence":0})" + payload);
}

TEST_F(ControlServerTest, HandsOverConnectionsThatAreNoWorkers) {
  std::vector<int> sockets;
  ControlServer server(loop_, {nullptr, nullptr, nullptr, [&](int socket, const Json& message) {
                                 EXPECT_EQ(message["type"], "join");
                                 sockets.push_back(socket);
                               }});
  tcp::socket socket(loop_);
  socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), server.port()));
  write(socket, framed(R"({"type":"join"})") + "the next frame");
  ASSERT_TRUE(run_until([&] { return !sockets.empty(); }));
  tcp::socket taken(loop_, tcp::v4(), sockets.front());
  std::string next(14, ' ');
  asio::read(taken, asio::buffer(next));
  EXPECT_EQ(next, "the next frame");
}

TEST_F(ControlServerTest, SendsItsClock) {
  const std::string token = random_token();
  const WorkerId id = server_.expect(token, 0);
  auto socket = connect();
  send_message(socket, protocol::Hello{protocol::kVersion, token, 0, 77});
  const std::int64_t before_ns = now_ns();
  send_message(socket, protocol::ClockRequest{0});
  send_message(socket, protocol::ClockRequest{7});
  ASSERT_TRUE(run_until([&] { return socket.available() > 8; }));
  loop_.run_for(std::chrono::milliseconds(20));
  const protocol::Clock first = receive_message(socket).get<protocol::Clock>();
  const protocol::Clock second = receive_message(socket).get<protocol::Clock>();
  EXPECT_EQ(first.sequence, 0);
  EXPECT_EQ(second.sequence, 7);
  EXPECT_LE(before_ns, first.clock_ns);
  EXPECT_LE(first.clock_ns, second.clock_ns);
  EXPECT_LE(second.clock_ns, now_ns());
  EXPECT_EQ(first.boot_id, boot_id());
  EXPECT_THAT(events_, ElementsAre("hello " + std::to_string(id))) << "the pass has nothing to do with it";
  send_message(socket, Json{{"type", "clock_request"}});
  ASSERT_TRUE(run_until([&] { return events_.size() == 2; }));
  EXPECT_THAT(events_[1], HasSubstr("sequence"));
}

TEST_F(ControlServerTest, SendsNothingToUnauthenticatedConnections) {
  auto socket = connect();
  send_message(socket, protocol::ClockRequest{0});
  EXPECT_TRUE(is_rejected(socket));
}

TEST_F(ControlServerTest, RejectsUnauthenticatedConnections) {
  server_.expect(random_token(), 0);
  auto wrong = connect();
  send_message(wrong, protocol::Hello{protocol::kVersion, random_token(), 0, 1});
  EXPECT_TRUE(is_rejected(wrong));
  auto other = connect();
  send_message(other, protocol::Progress{"load", -1, 0});
  EXPECT_TRUE(is_rejected(other));
  auto http = connect();
  write(http, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(is_rejected(http)) << "its first bytes announce more than an unauthenticated peer may send";
  auto broken = connect();
  write(broken, framed("[[[["));
  EXPECT_TRUE(is_rejected(broken));
  auto longer = connect();
  write(longer, framed(std::string(4097, ' ')));
  EXPECT_TRUE(is_rejected(longer));
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(ControlServerTest, IdleConnectionsDoNotKeepAWorkerOut) {
  std::vector<decltype(connect())> idle;
  for (int i = 0; i < 600; ++i) idle.push_back(connect());
  const std::string token = random_token();
  server_.expect(token, 0);
  auto worker = connect();
  send_message(worker, protocol::Hello{protocol::kVersion, token, 0, 1});
  EXPECT_TRUE(run_until([&] { return events_.size() == 1; }));
  EXPECT_TRUE(is_rejected(idle.front())) << "the oldest is dropped first";
}

TEST_F(ControlServerTest, AFloodOfInvalidTokensIsReportedOnce) {
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 50; ++i) {
    auto wrong = connect();
    send_message(wrong, protocol::Hello{protocol::kVersion, random_token(), 0, 1});
    EXPECT_TRUE(is_rejected(wrong));
  }
  const std::string lines = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1) << lines;
}

TEST_F(ControlServerTest, AdmitsEachTokenOnce) {
  const std::string token = random_token();
  server_.expect(token, 0);
  auto first = connect();
  send_message(first, protocol::Hello{protocol::kVersion, token, 0, 1});
  ASSERT_TRUE(run_until([&] { return events_.size() == 1; }));
  auto second = connect();
  send_message(second, protocol::Hello{protocol::kVersion, token, 0, 1});
  EXPECT_TRUE(is_rejected(second));
  EXPECT_EQ(events_.size(), 1u);
}

TEST_F(ControlServerTest, SaysWhatAWorkerDidWrong) {
  const auto wrong = [&](const Json& hello, const std::string& more) {
    events_.clear();
    auto socket = connect();
    send_message(socket, hello);
    if (!more.empty()) write(socket, more);
    EXPECT_TRUE(is_rejected(socket));
    loop_.poll();
    return events_.empty() ? std::string() : events_.back();
  };
  const auto hello = [&](int version, int rank) {
    const std::string token = random_token();
    server_.expect(token, 0);
    return protocol::Hello{version, token, rank, 1};
  };
  EXPECT_THAT(wrong(hello(99, 0), ""), HasSubstr("uses version 99 of the worker protocol; this kymo uses version 4"));
  EXPECT_THAT(wrong(hello(protocol::kVersion, 3), ""), HasSubstr("claims to be rank 3"));
  EXPECT_THAT(wrong(hello(protocol::kVersion, 0), framed("nonsense")), HasSubstr("invalid message"));
  EXPECT_THAT(wrong(hello(protocol::kVersion, 0), framed("{\"type\": \"x\", \"bad\": 1}")), HasSubstr("not like this"));
  EXPECT_THAT(
      wrong(hello(protocol::kVersion, 0), framed(Json(protocol::ClockRequest{0}).dump() + std::string("\0x", 2))),
      HasSubstr("unexpected binary data"));
  EXPECT_THAT(wrong(hello(protocol::kVersion, 0), std::string("\xFF\xFF\xFF\xFF")),
              HasSubstr("announced a frame of 4294967295 bytes"));
}

TEST_F(ControlServerTest, RemovesAWorkerWithoutAMessage) {
  const std::string token = random_token();
  const WorkerId id = server_.expect(token, 0);
  auto socket = connect();
  send_message(socket, protocol::Hello{protocol::kVersion, token, 0, 1});
  ASSERT_TRUE(run_until([&] { return events_.size() == 1; }));
  server_.forget(id);
  EXPECT_TRUE(is_rejected(socket));
  server_.send(id, protocol::Exit{});
  EXPECT_EQ(events_.size(), 1u);
}

TEST(RandomToken, IsLongAndNeverTheSame) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(random_token());
  EXPECT_EQ(tokens.size(), 100u);
  EXPECT_EQ(tokens.begin()->size(), 64u);
}

}  // namespace
}  // namespace kymo::supervisor
