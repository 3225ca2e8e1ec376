// SPDX-License-Identifier: Apache-2.0
#include "supervisor/control_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <filesystem>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/unix_socket.hpp"
#include "unit/hang.hpp"
#include "unit/supervisor/link_peer.hpp"

namespace kymo::supervisor {
namespace {

namespace protocol = measure::protocol;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::uint16_t port_of(const ControlServer& server) {
  const std::string address = server.address();
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

class ControlServerTest : public testing::Test {
 protected:
  tcp::socket connect() { return connect(server_); }
  tcp::socket connect(const ControlServer& server) {
    tcp::socket socket(loop_);
    socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_of(server)));
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
  /// Runs the event loop until a whole message has arrived.
  Json await_message(tcp::socket& socket) {
    const auto has_arrived = [&] {
      std::array<unsigned char, 4> header{};
      if (socket.available() < header.size()) return false;
      socket.receive(asio::buffer(header), tcp::socket::message_peek);
      return socket.available() >= header.size() + (header[0] | header[1] << 8 | header[2] << 16);
    };
    EXPECT_TRUE(run_until(has_arrived));
    return receive_message(socket);
  }
  /// Runs the event loop until `ready` returns true or a generous deadline passes.
  template <typename Ready>
  bool run_until(Ready ready) {
    const auto deadline = std::chrono::steady_clock::now() + kymo::kHang;
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
  EXPECT_EQ(await_message(socket).get<protocol::Released>().sequence, 4);
  EXPECT_EQ(protocol::type_of(await_message(socket)), "exit");
  socket.close();
  EXPECT_TRUE(run_until([&] { return events_.size() == 3; }));
  EXPECT_EQ(events_[2], "closed " + std::to_string(id) + " ");
}

TEST_F(ControlServerTest, AProcessConnectsAgain) {
  const std::string token = random_token();
  const WorkerId id = server_.expect(token, 0);
  protocol::Hello hello{protocol::kVersion, token, 0, 77};
  auto lost = connect();
  send_message(lost, hello);
  ASSERT_TRUE(run_until([&] { return events_.size() == 1; }));
  auto second = connect(), other = connect(), again = connect();
  send_message(second, hello);
  EXPECT_TRUE(is_rejected(second)) << "it may have replaced the first one, and does not know of its assignment";
  hello.again = true;
  hello.pid = 78;
  send_message(other, hello);
  EXPECT_TRUE(is_rejected(other)) << "another process";
  hello.pid = 77;
  send_message(again, hello);
  send_message(again, protocol::Progress{"step", 1, 2});
  ASSERT_TRUE(run_until([&] { return events_.size() == 3; }));
  EXPECT_EQ(events_[1], "hello " + std::to_string(id));
  EXPECT_TRUE(is_rejected(lost));
  server_.send(id, protocol::Exit{});
  EXPECT_EQ(protocol::type_of(await_message(again)), "exit");
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

TEST_F(ControlServerTest, ExpectsTheRanksThatAConnectionAnnounces) {
  const std::string token = random_token();
  std::vector<int> ranks;
  ControlServer* known = nullptr;
  ControlServer server(
      loop_, {[&](WorkerId, const protocol::Hello& hello) { ranks.push_back(hello.rank); }, nullptr, nullptr, nullptr,
              [&](const protocol::Hello& hello) {
                if (hello.ranks == 2) known->expect(token, 1);
                return hello.ranks == 2;
              }});
  known = &server;
  server.expect(token, 0);
  auto other = connect(server), first = connect(server), second = connect(server);
  send_message(other, protocol::Hello{protocol::kVersion, token, 0, 77});
  EXPECT_TRUE(is_rejected(other)) << "it is not admitted";
  send_message(first, protocol::Hello{protocol::kVersion, token, 1, 78, 2});
  send_message(second, protocol::Hello{protocol::kVersion, token, 0, 79, 2});
  EXPECT_TRUE(run_until([&] { return ranks.size() == 2; }));
  EXPECT_THAT(ranks, testing::UnorderedElementsAre(0, 1));
}

TEST_F(ControlServerTest, HandsOverConnectionsThatAreNoWorkers) {
  std::vector<int> sockets;
  ControlServer server(loop_, {nullptr, nullptr, nullptr, [&](int socket, const Json& message) {
                                 EXPECT_EQ(message["type"], "join");
                                 sockets.push_back(socket);
                               }});
  tcp::socket socket(loop_);
  socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_of(server)));
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
  const protocol::Clock first = await_message(socket).get<protocol::Clock>();
  const protocol::Clock second = await_message(socket).get<protocol::Clock>();
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

TEST_F(ControlServerTest, AnAddressWithManyConnectionsLosesItsOwn) {
  tcp::socket neighbour(loop_, tcp::v4());
  neighbour.bind(tcp::endpoint(asio::ip::make_address("127.0.0.2"), 0));
  neighbour.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_of(server_)));
  std::vector<tcp::socket> idle;
  for (int i = 0; i < 100; ++i) idle.push_back(connect());
  EXPECT_TRUE(is_rejected(idle.front()));
  const std::string token = random_token();
  server_.expect(token, 0);
  neighbour.non_blocking(false);
  send_message(neighbour, protocol::Hello{protocol::kVersion, token, 0, 1});
  EXPECT_TRUE(run_until([&] { return events_.size() == 1; })) << "the connection of another address was dropped";
}

/// A worker that asks without end and never reads an answer.
TEST_F(ControlServerTest, QueuesLittleForAPeerThatDoesNotRead) {
  const std::string token = random_token();
  server_.expect(token, 0);
  auto socket = connect();
  socket.set_option(asio::socket_base::receive_buffer_size(4096));
  send_message(socket, protocol::Hello{protocol::kVersion, token, 0, 1});
  std::string requests;
  for (int i = 0; i < 10000; ++i) requests += encode_frame(protocol::ClockRequest{i});
  socket.non_blocking(true);
  std::size_t sent = 0;
  int stalled = 0;
  while (sent < (64u << 20) && stalled < 100) {
    boost::system::error_code full;
    const std::size_t count = socket.write_some(asio::buffer(requests) + sent % requests.size(), full);
    sent += count;
    stalled = count > 0 ? 0 : stalled + 1;
    loop_.run_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(stalled, 100) << "the server read all of " << sent << " bytes of requests and queued the answers";
  EXPECT_EQ(events_.size(), 1u) << "the connection stays open";
}

class LocalControlServer : public testing::Test {
 protected:
  ~LocalControlServer() override { std::filesystem::remove_all(folder_); }
  /// Connects as this user, sends a valid hello, and returns whether the worker was accepted.
  bool accepts(ControlServer& server, const std::vector<WorkerId>& accepted, int socket) {
    const std::string token = random_token();
    server.expect(token, 0);
    const std::string hello = encode_frame(protocol::Hello{protocol::kVersion, token, 0, 1});
    EXPECT_EQ(::send(socket, hello.data(), hello.size(), MSG_NOSIGNAL), static_cast<ssize_t>(hello.size()));
    const auto deadline = std::chrono::steady_clock::now() + kymo::kHang;
    while (accepted.empty() && std::chrono::steady_clock::now() < deadline) loop_.run_for(std::chrono::milliseconds(5));
    close(socket);
    return !accepted.empty();
  }
  std::filesystem::path folder_ = make_private_folder("kymo-control-test");
  asio::io_context loop_;
  std::vector<WorkerId> accepted_;
  ControlEvents events_{[this](WorkerId id, const protocol::Hello&) { accepted_.push_back(id); },
                        [](WorkerId, Frame&) {}, [](WorkerId, const std::string&) {}};
};

TEST_F(LocalControlServer, ListensOnAUnixSocketOnly) {
  {
    ControlServer server(loop_, events_, {folder_ / "control"});
    EXPECT_EQ(server.address(), (folder_ / "control").string());
    EXPECT_TRUE(accepts(server, accepted_, connect_to(std::filesystem::path(server.address()))));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "control"));
}

TEST_F(LocalControlServer, UsesAFolderOfItsOwnWhereNoSocketIsPossible) {
  std::filesystem::path where;
  {
    ControlServer server(loop_, events_, {folder_ / "missing" / "control"});
    where = server.address();
    EXPECT_TRUE(accepts(server, accepted_, connect_to(where)));
  }
  EXPECT_FALSE(std::filesystem::exists(where.parent_path()));
}

TEST_F(LocalControlServer, RejectsAnotherUserEvenWithTheToken) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a process of another user";
  ControlServer server(loop_, events_, {folder_ / "control"});
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  std::filesystem::permissions(folder_ / "control", std::filesystem::perms::all);
  const std::string token = random_token();
  server.expect(token, 0);
  const pid_t other = fork();
  if (other == 0) {
    if (setuid(65534) != 0) _exit(1);
    const int socket = connect_to(folder_ / "control");
    const std::string hello = encode_frame(protocol::Hello{protocol::kVersion, token, 0, 1});
    ::send(socket, hello.data(), hello.size(), MSG_NOSIGNAL);
    char byte = 0;
    _exit(recv(socket, &byte, 1, 0) <= 0 ? 0 : 2);
  }
  int status = -1;
  const auto deadline = std::chrono::steady_clock::now() + kymo::kHang;
  while (waitpid(other, &status, WNOHANG) == 0 && std::chrono::steady_clock::now() < deadline)
    loop_.run_for(std::chrono::milliseconds(5));
  EXPECT_EQ(status, 0) << "the connection was not closed";
  EXPECT_THAT(accepted_, IsEmpty());
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
  EXPECT_THAT(wrong(hello(99, 0), ""), HasSubstr("uses version 99 of the worker protocol; this kymo uses version 7"));
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

}  // namespace
}  // namespace kymo::supervisor
