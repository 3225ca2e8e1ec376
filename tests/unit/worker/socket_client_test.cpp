// SPDX-License-Identifier: Apache-2.0
#include "worker/socket_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/unix_socket.hpp"
#include "unit/hang.hpp"
#include "unit/worker/fake_control.hpp"
#include "worker/installed_environment.hpp"
#include "worker/worker.hpp"

namespace kymo::worker {
namespace {

namespace protocol = measure::protocol;
using testing::ElementsAre;
using testing::EndsWith;
using testing::StartsWith;

constexpr std::chrono::seconds kPatience = kymo::kHang;

/// One end of the control connection, with blocking calls: the test simulates the supervisor.
class TestServer {
 public:
  TestServer() {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 1) != 0)
      throw Error("cannot listen");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~TestServer() {
    hang_up();
    close(listener_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  void accept_one() { connection_ = accept(listener_, nullptr, nullptr); }
  void hang_up() {
    if (connection_ >= 0) close(connection_);
    connection_ = -1;
  }
  void send_bytes(const std::string& bytes) {
    ASSERT_EQ(::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void send(const Json& message) { send_bytes(encode_frame(message)); }
  Frame receive_frame() {
    FrameDecoder decoder;
    for (;;) {
      const std::span<char> space = decoder.missing();
      if (recv(connection_, space.data(), space.size(), MSG_WAITALL) != static_cast<ssize_t>(space.size()))
        throw Error("the worker hung up");
      if (auto frame = decoder.take(space.size())) return *frame;
    }
  }
  Json receive() { return receive_frame().message; }

 private:
  int listener_ = -1;
  int connection_ = -1;
  std::uint16_t port_ = 0;
};

class SocketClientTest : public testing::Test {
 protected:
  SocketClientTest() : client(server.address(), 3, "secret") { server.accept_one(); }
  void SetUp() override { hello = server.receive().get<protocol::Hello>(); }

  TestServer server;
  SocketClient client;
  protocol::Hello hello;
};

TEST_F(SocketClientTest, SendsHello) {
  EXPECT_EQ(hello.protocol, protocol::kVersion);
  EXPECT_EQ(hello.token, "secret");
  EXPECT_EQ(hello.rank, 3);
  EXPECT_EQ(hello.pid, getpid());
}

TEST_F(SocketClientTest, ConnectsAgainIfTheWorkloadClosesTheDescriptor) {
  EXPECT_FALSE(hello.again);
  int own = -1;
  for (int fd = 3; fd < 256 && own < 0; ++fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof(peer);
    const bool is_client = getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
                           peer.sin_family == AF_INET &&
                           "127.0.0.1:" + std::to_string(ntohs(peer.sin_port)) == server.address();
    if (is_client) own = fd;
  }
  ASSERT_GE(own, 0);
  close(own);
  int other[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
  EXPECT_TRUE(other[0] == own || other[1] == own) << "a socket of the workload has the number";
  client.send(protocol::Progress{"step", 1, 2});
  server.hang_up();
  server.accept_one();
  hello = server.receive().get<protocol::Hello>();
  EXPECT_TRUE(hello.again);
  EXPECT_EQ(hello.pid, getpid());
  EXPECT_EQ(server.receive()["type"], "progress");
  char byte = 0;
  for (const int fd : other) EXPECT_EQ(recv(fd, &byte, 1, MSG_DONTWAIT), -1) << "nothing was sent to the workload";
  for (const int fd : other) close(fd);
}

TEST_F(SocketClientTest, ReceivesWorkAndExit) {
  server.send(protocol::Cancel{});  // of a finished pass
  server.send(fake_assignment());
  server.send(protocol::Exit{});
  const auto assignment = client.next_assignment();
  ASSERT_TRUE(assignment);
  EXPECT_EQ(assignment->what.workload, "fake");
  EXPECT_FALSE(client.cancelled());
  EXPECT_FALSE(client.next_assignment());
}

TEST_F(SocketClientTest, PutsFramesTogetherFromPieces) {
  const std::string bytes = encode_frame(fake_assignment());
  auto sender = std::async(std::launch::async, [&] {
    for (const char byte : bytes) server.send_bytes(std::string(1, byte));
  });
  EXPECT_TRUE(client.next_assignment());
  sender.get();
}

TEST_F(SocketClientTest, BarriersCountPerAssignment) {
  for (int round = 0; round < 2; ++round) {
    server.send(fake_assignment());
    client.next_assignment();
    server.send(protocol::Released{0, false});
    server.send(protocol::Released{1, true});
    EXPECT_EQ(client.barrier(false), Release::kGo);
    EXPECT_EQ(client.barrier(true), Release::kStop);
    const auto first = server.receive().get<protocol::Barrier>();
    const auto second = server.receive().get<protocol::Barrier>();
    EXPECT_EQ(first.sequence, 0);
    EXPECT_FALSE(first.stop);
    EXPECT_EQ(second.sequence, 1);
    EXPECT_TRUE(second.stop);
  }
}

TEST_F(SocketClientTest, CancelReleasesABarrier) {
  server.send(protocol::Cancel{});
  EXPECT_EQ(client.barrier(false), Release::kCancelled);
  EXPECT_TRUE(client.cancelled());
  EXPECT_FALSE(client.gather("x"));
}

TEST_F(SocketClientTest, PollsForCancelWithoutWaiting) {
  auto nothing_sent = std::async(std::launch::async, [&] { return client.cancelled(); });
  if (nothing_sent.wait_for(kPatience) != std::future_status::ready) {
    server.hang_up();  // ends the wait
    FAIL() << "cancelled() waits for a frame";
  }
  EXPECT_FALSE(nothing_sent.get());
  server.send(protocol::Cancel{});
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  bool cancelled = false;
  while (!(cancelled = client.cancelled()) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(cancelled) << "the frame did not arrive, or was not taken for a cancel";
}

TEST_F(SocketClientTest, GathersAnyBytes) {
  const std::string mine("\0\xff\n\"", 4);
  auto answer = std::async(std::launch::async, [&] {
    Frame frame = server.receive_frame();
    const auto gather = protocol::message_from<protocol::Gather>(frame);
    const auto reply = protocol::gathered(gather.sequence, {"zero", gather.payload});
    server.send_bytes(encode_frame(reply, reply.payload));
  });
  const auto parts = client.gather(mine);
  answer.get();
  ASSERT_TRUE(parts);
  EXPECT_THAT(*parts, ElementsAre("zero", mine));
}

TEST_F(SocketClientTest, AsksForTheClock) {
  auto answer = std::async(std::launch::async, [&] {
    for (int i = 0; i < 2; ++i) {
      const auto question = server.receive().get<protocol::ClockRequest>();
      server.send(protocol::Clock{question.sequence - 1, 1, "an older answer"});
      server.send(protocol::Clock{question.sequence, 40 + i, "boot"});
    }
  });
  const auto first = client.request_clock();
  const auto second = client.request_clock();
  answer.get();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->clock_ns, 40);
  EXPECT_EQ(second->clock_ns, 41);
  EXPECT_EQ(second->boot_id, "boot");
  server.send(protocol::Cancel{});
  EXPECT_FALSE(client.request_clock());
}

TEST_F(SocketClientTest, TextsThatAreNoUtf8AreReplaced) {
  measure::Outcome outcome;
  outcome.status = RunStatus::kFailed;
  outcome.detail = "bad \xff byte";
  client.send(outcome);
  const auto received = server.receive().get<measure::Outcome>();
  EXPECT_EQ(received.detail, "bad \xef\xbf\xbd byte");
}

TEST_F(SocketClientTest, ASupervisorThatIsGoneIsNoticed) {
  server.hang_up();
  EXPECT_THROW(client.cancelled(), ConnectionLost);
  EXPECT_THROW(client.next_assignment(), ConnectionLost);
}

TEST_F(SocketClientTest, SendingToNobodyIsNoticed) {
  server.hang_up();
  const auto send_much = [&] {
    for (int i = 0; i < 10000; ++i) client.send(protocol::Progress{"step", i, 0});
  };
  EXPECT_THROW(send_much(), ConnectionLost);
}

TEST_F(SocketClientTest, ExitInTheMiddleOfAPassEndsIt) {
  server.send(protocol::Exit{});
  EXPECT_THROW(client.barrier(false), ConnectionLost);
}

TEST_F(SocketClientTest, AnotherProgramAtTheOtherEndIsRecognised) {
  server.send_bytes("HTTP/1.1 400 Bad Request\r\n");
  try {
    client.next_assignment();
    FAIL() << "HTTP is not the protocol";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("the control server announced a frame of 1347703880 bytes"));
    EXPECT_THAT(error.what(), EndsWith("is the address that of a different program?"));
  }
}

TEST_F(SocketClientTest, AMalformedReplyIsAnError) {
  server.send_bytes(encode_frame(protocol::Gathered{0, {1, 1}, ""}, "abc"));
  EXPECT_THROW(client.gather("x"), Error);
  server.send(Json{{"type", "clock"}, {"sequence", "first"}});
  EXPECT_THROW(client.request_clock(), Error);
  server.send_bytes(encode_frame(protocol::Released{0, false}, "binary"));
  EXPECT_THROW(client.barrier(false), Error);
  server.send_bytes({4, 0, 0, 0, '[', '1', ']', ' '});
  EXPECT_THROW(client.next_assignment(), Error);
}

TEST(SocketClient, ConnectsToAUnixSocket) {
  const std::filesystem::path folder = make_private_folder("kymo-client-test");
  const int listener = listen_at(folder / "control");
  const SocketClient client((folder / "control").string(), 0, "secret");
  const int connection = accept(listener, nullptr, nullptr);
  std::string hello(200, '\0');
  hello.resize(static_cast<std::size_t>(std::max<ssize_t>(recv(connection, hello.data(), hello.size(), 0), 0)));
  EXPECT_THAT(hello, testing::HasSubstr("\"token\":\"secret\""));
  close(connection);
  close(listener);
  std::filesystem::remove_all(folder);
}

TEST(SocketClient, NobodyListening) {
  std::string address;
  {
    const TestServer closed;
    address = closed.address();
  }
  EXPECT_THROW(SocketClient(address, 0, ""), Error);
  EXPECT_THROW(SocketClient("/no/such/socket", 0, ""), Error);
}

TEST(RunWorker, ExitsInOrderWhenTold) {
  TestServer server;
  auto supervisor = std::async(std::launch::async, [&] {
    server.accept_one();
    server.receive();
    auto assignment = fake_assignment();
    assignment.what.plugin_file = "/no/such/plugin.so";
    server.send(assignment);
    for (;;) {
      const Json frame = server.receive();
      if (protocol::type_of(frame) != "outcome") continue;
      server.send(protocol::Exit{});
      return frame.get<measure::Outcome>();
    }
  });
  InstalledEnvironment environment;
  EXPECT_EQ(run_worker({server.address(), 0, "token", now_ns()}, environment), 0);
  const auto outcome = supervisor.get();
  EXPECT_EQ(outcome.status, RunStatus::kFailed);
  EXPECT_EQ(outcome.stage, "load");
  EXPECT_THAT(outcome.detail, testing::HasSubstr("/no/such/plugin.so"));
}

TEST(RunWorkerDeathTest, EndsAtOnceWithoutItsSupervisor) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        TestServer server;
        std::thread supervisor([&] {
          server.accept_one();
          server.receive();
          server.hang_up();
        });
        supervisor.detach();
        InstalledEnvironment environment;
        run_worker({server.address(), 0, "token", now_ns()}, environment);
      },
      testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace kymo::worker
