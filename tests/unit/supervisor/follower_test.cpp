// SPDX-License-Identifier: Apache-2.0
// A follower, tested with a leader that the test simulates over loopback.
#include "supervisor/follower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <thread>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "supervisor/follower_protocol.hpp"
#include "supervisor/scratch.hpp"
#include "unit/supervisor/link_peer.hpp"
#include "unit/supervisor/supervised.hpp"

namespace kymo::supervisor {
namespace {

namespace messages = follower_protocol;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// `sh` instead of a worker: prints, writes the rank file that the test specifies, and exits as requested.
SupervisorConfig shell_worker(const std::string& script) {
  SupervisorConfig setup;
  setup.worker_command = [script](const SpawnRequest& request) {
    SpawnOptions options;
    options.command = {"/bin/sh", "-c", script, "worker", request.address, std::to_string(request.rank)};
    options.environment.emplace_back(kTokenVariable, request.token);
    return options;
  };
  return setup;
}

/// A follower in a thread, and a leader simulated by the test.
class FollowerTest : public testing::Test {
 protected:
  void TearDown() override {
    if (thread_.joinable()) thread_.join();
  }

  void begin(const std::string& script = "exit 0", double patience_s = kHang_s) {
    setup_ = shell_worker(script);
    LauncherEnvironment launcher_env = launch_of(1, acceptor_.local_endpoint().port());
    launcher_env.join_timeout_s = patience_s;
    thread_ = std::thread([this, launcher_env] {
      try {
        code_ = follow(launcher_env, plan_, setup_);
      } catch (const Error& error) {
        error_ = error.what();
      }
    });
  }
  Peer accept() { return Peer(acceptor_.accept()); }
  /// Runs the protocol up to an accepted plan; returns the follower's directory.
  std::string welcome(Peer& leader) {
    EXPECT_EQ(leader.receive_message()["type"], "join");
    leader.send_message(messages::plain_message("joined"));
    const messages::Plan plan = leader.receive_message().get<messages::Plan>();
    leader.send_message(messages::plain_message("accepted"));
    return plan.folder;
  }
  void wait() { thread_.join(); }

  std::vector<PlannedRun> plan_{fake_run({}, 2)};
  SupervisorConfig setup_;
  asio::io_context loop_;
  tcp::acceptor acceptor_{loop_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::thread thread_;
  int code_ = -1;
  std::string error_;
};

TEST_F(FollowerTest, SaysWhoItIsAndEndsWithTheLeadersCode) {
  begin();
  Peer leader = accept();
  const messages::Join join = leader.receive_message().get<messages::Join>();
  EXPECT_EQ(join.version, messages::kVersion);
  EXPECT_EQ(join.kymo, version());
  EXPECT_EQ(join.identity, "test 1");
  EXPECT_EQ(join.token, "secret");
  EXPECT_EQ(join.rank, 1);
  EXPECT_EQ(join.world_size, 2);
  leader.send_message(messages::plain_message("joined"));
  const messages::Plan plan = leader.receive_message().get<messages::Plan>();
  EXPECT_THAT(messages::difference(messages::plan_of(plan_), plan, 1), IsEmpty());
  EXPECT_EQ(plan.local_rank, 1);
  EXPECT_EQ(plan.gpu, 5);
  EXPECT_TRUE(std::filesystem::is_directory(plan.folder));
  leader.send_message(messages::plain_message("accepted"));
  leader.send_message(messages::Finish{143});
  wait();
  EXPECT_EQ(code_, 143);
  EXPECT_FALSE(std::filesystem::exists(plan.folder));
}

TEST_F(FollowerTest, EndsAndReportsDetachedProcesses) {
  // setsid replaces itself
  begin("setsid sleep 600 > /dev/null 2>&1 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do sleep 0.01; done");
  Peer leader = accept();
  welcome(leader);
  leader.send_message(messages::Start{5, 0, "worker-token"});
  leader.send_message(messages::Begin{5, 42, measure::Pass::kTime});
  const messages::Ended ended = leader.receive_message().get<messages::Ended>();
  EXPECT_EQ(ended.end.end.exit_code, 0);
  EXPECT_THAT(ended.end.detached, testing::ElementsAre("sleep"));
  leader.send_message(messages::Finish{0});
  wait();
}

TEST_F(FollowerTest, StartsAWorkerAndSendsWhatItLeaves) {
  begin("echo \"$1 $2 $KYMO_WORKER_TOKEN\"; echo words >&2; exit 7");
  Peer leader = accept();
  const std::string folder = welcome(leader);
  leader.send_message(messages::Start{5, 0, "worker-token"});
  leader.send_message(messages::Begin{5, 42, measure::Pass::kTime});
  const messages::Ended ended = leader.receive_message().get<messages::Ended>();
  EXPECT_EQ(ended.worker, 5);
  EXPECT_EQ(ended.end.end.exit_code, 7);
  EXPECT_EQ(ended.end.last_line, "words");

  std::string content(3u << 20, 'x');
  content += "the end";
  write_file(std::filesystem::path(folder) / rank_file_name(42, 1, measure::Pass::kTime), content);
  leader.send_message(messages::WorkerRequest{"collect", 5});
  const messages::WorkerOutput output = leader.receive_message().get<messages::WorkerOutput>();
  EXPECT_EQ(output.stdout_text, "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + " 1 worker-token\n");
  EXPECT_EQ(output.stderr_text, "words\n");
  ASSERT_EQ(output.file_bytes, static_cast<std::int64_t>(content.size()));
  std::string came;
  while (came.size() < content.size()) {
    Frame frame = leader.receive();
    const auto part = measure::protocol::message_from<messages::FilePart>(frame);
    ASSERT_EQ(part.worker, 5);
    came += part.payload;
  }
  EXPECT_TRUE(came == content);

  leader.send_message(messages::WorkerRequest{"collect", 5});
  EXPECT_EQ(leader.receive_message().get<messages::WorkerOutput>().file_bytes, -1) << "it is sent once";
  leader.send_message(messages::Finish{0});
  wait();
  EXPECT_EQ(code_, 0);
}

TEST_F(FollowerTest, KillsWhenTold) {
  begin("sleep 600");
  Peer leader = accept();
  welcome(leader);
  leader.send_message(messages::Start{1, 0, "t"});
  leader.send_message(messages::WorkerRequest{"kill", 1});
  EXPECT_EQ(leader.receive_message().get<messages::Ended>().end.end.signal, SIGKILL);
  leader.send_message(messages::Finish{3});
  wait();
  EXPECT_EQ(code_, 3);
}

TEST_F(FollowerTest, AWorkerThatCannotStartIsTold) {
  begin();
  setup_.worker_command = [](const SpawnRequest&) -> SpawnOptions { throw Error("no such program"); };
  Peer leader = accept();
  welcome(leader);
  leader.send_message(messages::Start{1, 0, "t"});
  EXPECT_THAT(leader.receive_message().get<messages::Ended>().end.lost, HasSubstr("no such program"));
  leader.send_message(messages::Finish{3});
  wait();
}

TEST_F(FollowerTest, AVanishedLeaderEndsItAndItsWorkers) {
  const std::string pid_file = (make_private_folder("kymo-follower-test-") / "pid").string();
  begin("echo $$ > " + pid_file + "; exec sleep 600");
  Peer leader = accept();
  welcome(leader);
  leader.send_message(messages::Start{1, 0, "t"});
  while (!std::filesystem::exists(pid_file) || std::filesystem::file_size(pid_file) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  leader.close();
  wait();
  EXPECT_THAT(error_, AllOf(HasSubstr("rank 0 at 127.0.0.1:"), HasSubstr("has ended or is no longer reachable")));
  EXPECT_NE(kill(std::stoi(read_file(pid_file)), 0), 0);
  std::filesystem::remove_all(std::filesystem::path(pid_file).parent_path());
}

TEST_F(FollowerTest, SaysWhyItWasRejected) {
  begin();
  Peer leader = accept();
  leader.receive_message();
  leader.send_message(messages::Rejected{"another job"});
  leader.close();
  wait();
  EXPECT_THAT(error_, AllOf(HasSubstr("rejected rank 1"), HasSubstr("another job")));
}

TEST_F(FollowerTest, TriesAgainUntilALeaderAnswers) {
  begin();
  accept().close();
  accept().write("HTTP/1.1 400 Bad Request\r\n\r\n");
  Peer leader = accept();
  welcome(leader);
  leader.send_message(messages::Finish{0});
  wait();
  EXPECT_EQ(code_, 0);
}

TEST_F(FollowerTest, GivesUpAtTheDeadline) {
  acceptor_.close();
  acceptor_ = tcp::acceptor(loop_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  const auto port = acceptor_.local_endpoint().port();
  acceptor_.close();
  LauncherEnvironment launcher_env = launch_of(1, port);
  launcher_env.join_timeout_s = 0.3;
  try {
    follow(launcher_env, plan_);
    FAIL() << "nobody listened";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1 could not join rank 0 at 127.0.0.1:" + std::to_string(port)),
                                    HasSubstr("KYMO_PORT")));
  }
}

TEST_F(FollowerTest, BadFramesOfALeaderEndIt) {
  const std::vector<BadFrame> frames{
      {std::string("\xFF\xFF\xFF\x7F", 4), "announced a frame of 2147483647 bytes"},
      {std::string(4, '\0'), "announced a frame of 0 bytes"},
      {framed("{nonsen"), "invalid message"},
      {framed("[1]"), "not a JSON object"},
      {framed(R"({"type": 3})"), "wrong type"},
      {framed(R"({"type": "dance"})"), "'dance'"},
      {framed(std::string("\0bytes", 6)), "invalid message"},
      {framed(Json(messages::Finish{0}).dump() + std::string("\0bytes", 6)), "unexpected binary data"},
      {framed(R"({"type": "start", "worker": 1, "token": "t"})"), "plan_index"},
      {framed(R"({"type": "start", "worker": 1, "plan_index": 1, "token": "t"})"), "not in the plan"},
      {framed(R"({"type": "begin", "worker": 1, "run_id": 1, "pass": "../../etc"})"), "etc"},
  };
  for (const auto& frame : frames) {
    begin();
    Peer leader = accept();
    welcome(leader);
    leader.write(frame.bytes);
    wait();
    EXPECT_THAT(error_, HasSubstr(frame.failure_reason));
    EXPECT_EQ(code_, -1);
    error_.clear();
  }
}

}  // namespace
}  // namespace kymo::supervisor
