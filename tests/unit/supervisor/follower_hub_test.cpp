// SPDX-License-Identifier: Apache-2.0
// The leader's end of the connections, tested with followers that the test simulates over loopback.
#include "supervisor/follower_hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "supervisor/remote_process.hpp"
#include "unit/hang.hpp"
#include "unit/supervisor/link_peer.hpp"
#include "unit/supervisor/supervised.hpp"

namespace kymo::supervisor {
namespace {

namespace messages = follower_protocol;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// A hub, and a follower simulated by the test.
class HubTest : public testing::Test {
 protected:
  Peer connect(const Json& first) {
    tcp::acceptor acceptor(loop_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket ours(loop_);
    ours.connect(acceptor.local_endpoint());
    hub_.take(acceptor.accept().release(), first);
    return Peer(std::move(ours));
  }
  /// Runs the event loop until the condition holds; false if that takes too long even for a busy machine.
  bool run_until(const std::function<bool()>& ready) {
    const auto deadline = std::chrono::steady_clock::now() + kymo::kHang;
    while (!ready() && std::chrono::steady_clock::now() < deadline) {
      loop_.restart();
      loop_.run_for(std::chrono::milliseconds(5));
    }
    return ready();
  }
  Json received_message(Peer& peer) {
    if (!run_until([&] { return peer.has_input(); })) throw Error("the hub sent nothing");
    return peer.receive_message();
  }
  static messages::Join join() {
    messages::Join join;
    join.kymo = version();
    join.identity = "test 1";
    join.token = "secret";
    join.rank = 1;
    join.world_size = 2;
    join.host = "there";
    return join;
  }
  std::string refusal(const messages::Join& said) {
    Peer peer = connect(said);
    return received_message(peer).get<messages::Rejected>().reason;
  }
  messages::Plan their_plan() {
    messages::Plan plan = messages::plan_of(plan_);
    plan.folder = "/there";
    plan.plugins.front().file = "/elsewhere/fake.so";
    plan.local_rank = 3;
    plan.gpu = 2;
    return plan;
  }
  /// A follower whose plan is accepted.
  Peer admitted() {
    Peer peer = connect(join());
    EXPECT_EQ(received_message(peer)["type"], "joined");
    peer.send_message(their_plan());
    EXPECT_EQ(received_message(peer)["type"], "accepted");
    return peer;
  }
  std::string failure() { return failure(hub_); }
  static std::string failure(FollowerHub& hub) {
    try {
      hub.gather([] { return false; });
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  /// Runs the event loop until the hub has read all that the peer has sent.
  void run_until_read(Peer& peer) {
    peer.send_message(messages::Signalled{SIGUSR1});
    ASSERT_TRUE(run_until([&] { return !signals_.empty() && signals_.back() == SIGUSR1; }));
    signals_.pop_back();
  }

  std::vector<PlannedRun> plan_{fake_run({}, 2)};
  asio::io_context loop_;
  std::vector<int> signals_;
  FollowerHub hub_{loop_, launch_of(0, 1), messages::plan_of(plan_),
                   [this](int, int number) { signals_.push_back(number); }};
};

TEST_F(HubTest, NamesTheRanksThatAreMissing) {
  LauncherEnvironment impatient = launch_of(0, 1);
  impatient.join_timeout_s = 0.2;
  FollowerHub hub(loop_, impatient, messages::plan_of(plan_), [](int, int) {});
  EXPECT_THAT(failure(hub), AllOf(HasSubstr("rank 1 of 2 did not join"), HasSubstr("port 1;")));
}

TEST_F(HubTest, RejectsUnauthenticatedConnectionsAndContinues) {
  auto said = join();
  said.identity = "other 2";
  EXPECT_THAT(refusal(said), AllOf(HasSubstr("'test 1'"), HasSubstr("'other 2'"), HasSubstr("KYMO_PORT")));
  said = join();
  said.token = "guess";
  EXPECT_THAT(refusal(said), HasSubstr("KYMO_JOB_TOKEN"));
  for (const int rank : {-1, 0, 2}) {
    said = join();
    said.rank = rank;
    EXPECT_THAT(refusal(said), HasSubstr("ranks 1 to 1"));
  }
  for (const char* frame : {R"({"type":"hi"})", R"({"type":"join"})", R"({"type":"join","version":"x"})", "[]", "3"}) {
    Peer peer = connect(Json::parse(frame));
    EXPECT_THAT(received_message(peer).get<messages::Rejected>().reason, HasSubstr("invalid message")) << frame;
  }
  Peer peer = admitted();
  EXPECT_THAT(refusal(join()), HasSubstr("has already joined from 'there'"));
  EXPECT_THAT(failure(), IsEmpty());
}

TEST_F(HubTest, AnotherVersionEndsTheLaunch) {
  auto said = join();
  said.version = 99;
  EXPECT_THAT(refusal(said), AllOf(HasSubstr("launch protocol 99"),
                                   HasSubstr("launch protocol " + std::to_string(messages::kVersion))));
  EXPECT_THAT(failure(), HasSubstr("launch protocol 99"));
}

TEST_F(HubTest, AnotherWorldEndsTheLaunch) {
  auto said = join();
  said.world_size = 3;
  EXPECT_THAT(refusal(said), HasSubstr("started with 3 ranks"));
  EXPECT_THAT(failure(), HasSubstr("started with 3 ranks"));
}

TEST_F(HubTest, AnotherLibraryOfAPluginEndsTheLaunch) {
  Peer peer = connect(join());
  received_message(peer);
  auto plan = their_plan();
  plan.plugins.front().libraries = {{"librest.so", "33"}};
  peer.send_message(plan);
  EXPECT_THAT(failure(), AllOf(HasSubstr("the library 'librest.so' of the plugin"),
                               HasSubstr("rank 0 does not load '/librest.so'"),
                               HasSubstr("rank 1 has '/elsewhere/librest.so' with sha256 33")));
}

TEST_F(HubTest, AnotherPluginEndsTheLaunch) {
  Peer peer = connect(join());
  received_message(peer);
  auto plan = their_plan();
  plan.plugins.front().sha256 = "11";
  peer.send_message(plan);
  EXPECT_THAT(failure(), AllOf(HasSubstr("rank 0 has '/fake.so' with sha256 00"),
                               HasSubstr("rank 1 has '/elsewhere/fake.so' with sha256 11")));
  EXPECT_THAT(peer.receive_message().get<messages::Rejected>().reason, HasSubstr("not the same on all ranks"));
}

TEST_F(HubTest, AnotherPlanEndsTheLaunch) {
  Peer peer = connect(join());
  received_message(peer);
  auto plan = their_plan();
  plan.digests.emplace_back("more");
  plan.plugin_of_run.push_back(0);
  peer.send_message(plan);
  EXPECT_THAT(failure(), HasSubstr("rank 0 plans 1 runs but rank 1 plans 2"));
}

TEST_F(HubTest, ARemoteProcessReceivesAndSends) {
  Peer peer = admitted();
  RemoteProcess process(hub_, 1, 0, "token");
  const auto start = received_message(peer).get<messages::Start>();
  EXPECT_EQ(start.token, "token");
  measure::protocol::Assignment assignment;
  assignment.run_id = 9;
  process.localize(assignment);
  EXPECT_EQ(assignment.what.plugin_file, "/elsewhere/fake.so");
  EXPECT_EQ(assignment.rank_file, "/there/RUN-9-1-time.kymo");
  EXPECT_EQ(assignment.local_rank, 3);
  EXPECT_EQ(assignment.device_index, 2);
  EXPECT_EQ(process.host(), "there");

  process.begin_pass(9, measure::Pass::kTime);
  EXPECT_EQ(received_message(peer).get<messages::Begin>().run_id, 9);
  peer.send_message(messages::Memory{start.worker, {100, 50}});
  run_until_read(peer);
  EXPECT_EQ(process.memory_use(10)->available_bytes, 50);
  EXPECT_FALSE(process.memory_use(10));
  peer.send_message(messages::Ended{start.worker, {{std::nullopt, SIGSEGV}, false, "last words", ""}, 200});
  peer.send_message(messages::Signalled{SIGTERM});
  run_until_read(peer);
  EXPECT_FALSE(process.reaped());
  ASSERT_TRUE(process.poll_end());
  EXPECT_EQ(process.poll_end()->end.signal, SIGSEGV);
  EXPECT_TRUE(process.reaped());
  EXPECT_EQ(process.memory_use(10)->bytes, 200);
  EXPECT_THAT(signals_, testing::ElementsAre(SIGTERM));
}

TEST_F(HubTest, AFileComesWholeOrNotAtAll) {
  const auto folder = make_private_folder("kymo-hub-test-");
  Peer peer = admitted();
  RemoteProcess process(hub_, 1, 0, "token");
  const auto worker = received_message(peer).get<messages::Start>().worker;
  process.collect(folder / "whole");
  EXPECT_FALSE(process.collected(0));
  peer.send_message(messages::WorkerOutput{worker, "out", "err", 5});
  peer.write(encode_frame(messages::FilePart{worker, ""}, "abc"));
  run_until_read(peer);
  EXPECT_FALSE(std::filesystem::exists(folder / "whole"));
  peer.write(encode_frame(messages::FilePart{worker + 1, ""}, "of another worker"));
  peer.write(encode_frame(messages::FilePart{worker, ""}, "de"));
  run_until_read(peer);
  EXPECT_TRUE(process.collected(0));
  EXPECT_EQ(read_file(folder / "whole"), "abcde");
  EXPECT_EQ(process.take_output().stdout_text, "out");

  process.collect(folder / "half");
  peer.send_message(messages::WorkerOutput{worker, "", "", 5});
  peer.write(encode_frame(messages::FilePart{worker, ""}, "abc"));
  peer.close();
  EXPECT_TRUE(run_until([&] { return process.collected(0); }));
  EXPECT_TRUE(std::filesystem::exists(folder / "whole"));
  EXPECT_FALSE(std::filesystem::exists(folder / "half"));
  EXPECT_FALSE(std::filesystem::exists(folder / "half.part"));
  EXPECT_THAT(process.poll_end()->lost, HasSubstr("its kymo process on 'there' has ended"));
  EXPECT_FALSE(hub_.intact());
  EXPECT_THROW(RemoteProcess(hub_, 1, 0, "token"), Error);
  std::filesystem::remove_all(folder);
}

TEST_F(HubTest, ATransferThatStandsStillIsGivenUp) {
  Peer peer = admitted();
  RemoteProcess process(hub_, 1, 0, "token");
  process.collect("/nowhere");
  EXPECT_FALSE(process.collected(1000));
  EXPECT_FALSE(process.collected(1059));
  EXPECT_TRUE(process.collected(1061));
}

TEST_F(HubTest, PartsOfAnAbandonedFileAreIgnored) {
  const auto folder = make_private_folder("kymo-hub-test-");
  Peer peer = admitted();
  RemoteProcess process(hub_, 1, 0, "token");
  const auto worker = received_message(peer).get<messages::Start>().worker;
  process.collect(folder / "file");
  peer.write(encode_frame(messages::FilePart{worker, ""}, "of the previous file"));
  peer.send_message(messages::WorkerOutput{worker, "", "", 3});
  peer.write(encode_frame(messages::FilePart{worker, ""}, "abc"));
  EXPECT_TRUE(run_until([&] { return process.collected(0); }));
  EXPECT_EQ(read_file(folder / "file"), "abc");
  std::filesystem::remove_all(folder);
}

TEST_F(HubTest, MoreBytesThanAnnouncedLoseTheRank) {
  const auto folder = make_private_folder("kymo-hub-test-");
  Peer peer = admitted();
  RemoteProcess process(hub_, 1, 0, "token");
  const auto worker = received_message(peer).get<messages::Start>().worker;
  process.collect(folder / "file");
  peer.send_message(messages::WorkerOutput{worker, "", "", 3});
  peer.write(encode_frame(messages::FilePart{worker, ""}, "abcd"));
  EXPECT_TRUE(run_until([&] { return !hub_.lost(1).empty(); }));
  EXPECT_THAT(hub_.lost(1), HasSubstr("more bytes than announced"));
  EXPECT_FALSE(std::filesystem::exists(folder / "file"));
  std::filesystem::remove_all(folder);
}

TEST_F(HubTest, BadFramesOfAFollowerLoseItsRank) {
  const std::vector<BadFrame> frames{
      {std::string("\xFF\xFF\xFF\x7F", 4), "announced a frame of 2147483647 bytes"},
      {framed("{nonsen"), "invalid message"},
      {framed(R"({"type": "dance"})"), "'dance'"},
      {framed(R"({"type": "ended", "worker": "x"})"), "'worker' has the wrong type"},
      {framed(Json(messages::Plan{}).dump()), "a second plan"},
      {framed(std::string("\0bytes", 6)), "invalid message"},
      {framed(Json(messages::Signalled{2}).dump() + std::string("\0bytes", 6)), "unexpected binary data"},
      {framed(R"({"type": "worker_output", "worker": 1, "stdout": "", "stderr": "", "file_bytes": -7})"), "-7 bytes"},
  };
  for (const auto& frame : frames) {
    FollowerHub hub(loop_, launch_of(0, 1), messages::plan_of(plan_), [](int, int) {});
    tcp::acceptor acceptor(loop_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket ours(loop_);
    ours.connect(acceptor.local_endpoint());
    hub.take(acceptor.accept().release(), join());
    Peer peer(std::move(ours));
    peer.send_message(their_plan());
    peer.write(frame.bytes);
    EXPECT_TRUE(run_until([&] { return !hub.lost(1).empty(); }));
    EXPECT_THAT(hub.lost(1), HasSubstr(frame.failure_reason));
  }
}

TEST_F(HubTest, NotifiesFollowersOfTheEnd) {
  Peer peer = admitted();
  std::thread follower([&] {
    EXPECT_EQ(peer.receive_message().get<messages::Finish>().code, 3);
    peer.close();
  });
  loop_.restart();
  hub_.finish(3, kHang_s);
  follower.join();
  EXPECT_TRUE(hub_.intact());
}

}  // namespace
}  // namespace kymo::supervisor
