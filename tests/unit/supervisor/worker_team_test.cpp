// SPDX-License-Identifier: Apache-2.0
#include "supervisor/worker_team.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "unit/supervisor/supervised.hpp"

namespace kymo::supervisor {
namespace {

/// A worker without a process, which ends on request.
struct ScriptedProcess final : RankProcess {
  explicit ScriptedProcess(std::optional<WorkerEnd>& its_end) : end(its_end) {}

  void localize(measure::protocol::Assignment&) const override {}
  void begin_pass(std::int64_t, measure::Pass) override {}
  void announce(pid_t) override {}
  pid_t worker_pid() const override { return 0; }
  std::string host() const override { return "here"; }
  void kill() override {}
  std::optional<WorkerEnd> poll_end() override { return end; }
  bool reaped() const override { return end.has_value(); }
  bool output_closed() const override { return false; }
  std::optional<MemoryUse> memory_use(std::int64_t) override { return std::nullopt; }
  void collect(const std::filesystem::path&) override {}
  bool collected(double) override { return true; }
  ProcessOutput take_output() override { return {}; }

  std::optional<WorkerEnd>& end;
};

class TeamOfOne : public testing::Test {
 protected:
  static constexpr double kNow_s = 1000;

  void crash(const std::string& lost = "") {
    end_.emplace();
    end_->end.signal = 11;
    end_->lost = lost;
  }

  boost::asio::io_context loop_;
  ControlServer server_{loop_, {nullptr, nullptr, nullptr}};
  std::optional<WorkerEnd> end_;
  WorkerTeam team_{server_, [this](const SpawnRequest&) { return std::make_unique<ScriptedProcess>(end_); },
                   fake_run()};
};

TEST_F(TeamOfOne, AnEndIsToldOnceAndAfterTheLastWords) {
  team_.connected(0, {});
  EXPECT_EQ(team_.take_end(0, kNow_s), std::nullopt) << "it lives";
  crash();
  EXPECT_FALSE(team_.ending());
  EXPECT_EQ(team_.take_end(0, kNow_s), std::nullopt) << "its outcome may still be unread";
  EXPECT_TRUE(team_.ending()) << "look again soon";
  team_.closed(0);
  const auto end = team_.take_end(0, kNow_s + 0.01);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->end.signal, 11);
  EXPECT_EQ(team_.take_end(0, kNow_s + 0.02), std::nullopt) << "once";
  EXPECT_FALSE(team_.ending());
}

TEST_F(TeamOfOne, AConnectionThatSomebodyElseHoldsDoesNotKeepAnEndBack) {
  team_.connected(0, {});
  crash();
  EXPECT_EQ(team_.take_end(0, kNow_s), std::nullopt);
  EXPECT_EQ(team_.take_end(0, kNow_s + 0.9), std::nullopt);
  EXPECT_TRUE(team_.take_end(0, kNow_s + 1.1).has_value());
}

TEST_F(TeamOfOne, WhoNeverConnectedOrIsLostHasNothingMoreToSay) {
  crash();
  EXPECT_TRUE(team_.take_end(0, kNow_s).has_value());
}

TEST_F(TeamOfOne, ALostMachineIsNotWaitedFor) {
  team_.connected(0, {});
  crash("its supervisor is gone");
  EXPECT_TRUE(team_.take_end(0, kNow_s).has_value());
}

}  // namespace
}  // namespace kymo::supervisor
