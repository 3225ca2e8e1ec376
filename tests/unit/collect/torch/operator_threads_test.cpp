// SPDX-License-Identifier: Apache-2.0
// Effects of threads, failures, limits and the end of a pass on the operator log.
#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "unit/collect/torch/torch_test.hpp"

namespace kymo::collect {
namespace {

using event::Operator;
using measure::Pass;
using testing::HasSubstr;

class TorchOperatorThreadsTest : public TorchTest {
 protected:
  static std::string name_of(const event::PassRecord& record, const Operator& op) {
    return record.trace.texts.text(op.name);
  }
  static std::size_t count(const event::PassRecord& record, const std::string& name) {
    std::size_t found = 0;
    for (const Operator& op : record.trace.operators) found += name_of(record, op) == name;
    return found;
  }
  /// A call whose name LibTorch knows only as this text.
  static void call(const std::string& name) {
    at::RecordFunction guard(at::RecordScope::FUNCTION);
    if (guard.isActive()) guard.before(std::string_view(name));
  }
  static void nest(int depth) {
    at::RecordFunction guard(at::RecordScope::FUNCTION);
    guard.before("again");
    if (depth > 1) nest(depth - 1);
  }
};

TEST_F(TorchOperatorThreadsTest, CallsWithinCallsOfTheSameNameFormAChain) {
  constexpr int kDepth = 300;
  arm(Pass::kOps);
  nest(kDepth);
  nest(1);
  const event::PassRecord record = disarm();
  const auto& operators = record.trace.operators;
  ASSERT_EQ(operators.size(), static_cast<std::size_t>(kDepth + 1));
  for (std::int64_t i = 0; i < kDepth; ++i) {
    const Operator& op = operators[static_cast<std::size_t>(i)];
    EXPECT_EQ(op.parent, i - 1);
    EXPECT_GE(op.end_ns, op.start_ns);
    if (i == 0) continue;
    EXPECT_GE(op.start_ns, operators[static_cast<std::size_t>(i - 1)].start_ns);
    EXPECT_LE(op.end_ns, operators[static_cast<std::size_t>(i - 1)].end_ns);
  }
  EXPECT_EQ(operators.back().parent, -1);
}

TEST_F(TorchOperatorThreadsTest, AnOperatorThatThrowsHasAnEnd) {
  const auto a = torch::ones({2, 3});
  arm(Pass::kOps);
  EXPECT_ANY_THROW(torch::mm(a, a));
  torch::empty({1});
  const event::PassRecord record = disarm();
  ASSERT_EQ(count(record, "aten::mm"), 1u);
  for (const Operator& op : record.trace.operators) EXPECT_GE(op.end_ns, op.start_ns);
  EXPECT_EQ(name_of(record, record.trace.operators.back()), "aten::empty");
  EXPECT_EQ(record.trace.operators.back().parent, -1);
}

TEST_F(TorchOperatorThreadsTest, ManyCallsCrossTheBoundariesOfTheLogInOrder) {
  constexpr int kCalls = 30'000;
  const auto x = torch::ones({1});
  arm(Pass::kOps);
  for (int i = 0; i < kCalls; ++i) {
    x.fill_(1);
    call("number " + std::to_string(i % 3000));
  }
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.trace.operators.size(), static_cast<std::size_t>(2 * kCalls));
  EXPECT_TRUE(record.dropped_records.empty());
  std::int64_t time_ns = 0;
  for (std::size_t i = 0; i < record.trace.operators.size(); ++i) {
    const Operator& op = record.trace.operators[i];
    ASSERT_EQ(name_of(record, op), i % 2 == 0 ? "aten::fill_" : "number " + std::to_string(i / 2 % 3000));
    EXPECT_EQ(op.parent, -1);
    EXPECT_GE(op.start_ns, time_ns);
    EXPECT_GE(op.end_ns, op.start_ns);
    time_ns = op.end_ns;
  }
}

TEST_F(TorchOperatorThreadsTest, TimesLieOnTheHostsClock) {
  constexpr std::int64_t kSlackNs = 1'000'000;
  arm(Pass::kOps);
  const std::int64_t before_ns = now_ns() - setting_.run_start_ns;
  torch::ones({3});
  const std::int64_t after_ns = now_ns() - setting_.run_start_ns;
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.trace.operators.size(), 3u);
  EXPECT_GE(record.trace.operators[0].start_ns, before_ns - kSlackNs);
  EXPECT_LE(record.trace.operators[0].end_ns, after_ns + kSlackNs);
}

TEST_F(TorchOperatorThreadsTest, CallsOfThreadsThatEndedBeforeStayInTheRecord) {
  constexpr int kThreads = 40;
  arm(Pass::kOps);
  for (int i = 0; i < kThreads; ++i) std::thread([i] { call("of thread " + std::to_string(i)); }).join();
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.trace.operators.size(), static_cast<std::size_t>(kThreads));
  std::set<std::uint32_t> threads;
  for (std::size_t i = 0; i < record.trace.operators.size(); ++i) {
    const Operator& op = record.trace.operators[i];
    EXPECT_EQ(name_of(record, op), "of thread " + std::to_string(i));
    EXPECT_GE(op.end_ns, op.start_ns);
    threads.insert(op.position.thread);
  }
  EXPECT_EQ(threads.size(), static_cast<std::size_t>(kThreads));
}

TEST_F(TorchOperatorThreadsTest, BackwardPassesOfSeveralThreadsKeepTheirNodes) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 20;
  arm(Pass::kOps);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      const auto weight = torch::ones({3, 3}, torch::requires_grad());
      for (int step = 0; step < kSteps; ++step) torch::mm(weight, weight).sum().backward();
    });
  for (std::thread& thread : threads) thread.join();
  const event::PassRecord record = disarm();
  EXPECT_EQ(count(record, "MmBackward0"), static_cast<std::size_t>(kThreads * kSteps));
  std::map<std::uint64_t, std::set<std::int64_t>> nodes;  // per LibTorch thread number
  for (const Operator& op : record.trace.operators) {
    EXPECT_GE(op.end_ns, op.start_ns);
    if (op.parent >= 0) {
      EXPECT_EQ(record.trace.operators[static_cast<std::size_t>(op.parent)].position.thread, op.position.thread);
    }
    if (op.backward && name_of(record, op) == "MmBackward0")
      nodes[op.position.node.thread].insert(op.position.node.sequence);
  }
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(kThreads));
  for (const auto& [thread, sequences] : nodes) EXPECT_EQ(sequences.size(), static_cast<std::size_t>(kSteps)) << thread;
}

TEST_F(TorchOperatorThreadsTest, ACallThatOutlivesItsPassTouchesNoLaterOne) {
  std::optional<at::RecordFunction> guard;
  arm(Pass::kOps);
  guard.emplace(at::RecordScope::FUNCTION);
  guard->before("outlives its pass");
  const event::PassRecord first = disarm();
  ASSERT_EQ(first.trace.operators.size(), 1u);
  EXPECT_EQ(first.trace.operators[0].end_ns, -1);
  arm(Pass::kOps);
  call("before");
  guard.reset();
  call("after");
  const event::PassRecord second = disarm();
  ASSERT_EQ(second.trace.operators.size(), 2u);
  for (const Operator& op : second.trace.operators) {
    EXPECT_EQ(op.parent, -1);
    EXPECT_GE(op.end_ns, op.start_ns);
  }
}

TEST_F(TorchOperatorThreadsTest, ACallThatEndsOnAnotherThreadHasNoEnd) {
  arm(Pass::kOps);
  {
    std::optional<at::RecordFunction> guard(std::in_place, at::RecordScope::FUNCTION);
    guard->before("ends elsewhere");
    std::thread([&] {
      call("there");
      guard.reset();
    }).join();
  }
  call("within, as far as anybody knows");
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.trace.operators.size(), 3u);
  EXPECT_EQ(record.trace.operators[0].end_ns, -1);
  EXPECT_GE(record.trace.operators[1].end_ns, record.trace.operators[1].start_ns);
  EXPECT_EQ(record.trace.operators[1].parent, -1) << "another thread";
  EXPECT_EQ(record.trace.operators[2].parent, 0);
}

TEST_F(TorchOperatorThreadsTest, EachCallOfEachThreadIsEitherKeptOrCounted) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 3000;
  setting_.observation.memory_bytes = 100'000;
  arm(Pass::kOps);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      for (int n = 0; n < kCalls; ++n) call("call");
    });
  for (std::thread& thread : threads) thread.join();
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_GT(record.trace.operators.size(), 100u);
  EXPECT_EQ(record.dropped_records[0].count + static_cast<std::int64_t>(record.trace.operators.size()),
            kThreads * kCalls);
  EXPECT_EQ(count(record, "call"), record.trace.operators.size()) << "no number without a row";
}

TEST_F(TorchOperatorThreadsTest, ACallWithoutARowIsNobodysParent) {
  setting_.observation.memory_bytes = 4096;
  arm(Pass::kOps);
  {
    at::RecordFunction guard(at::RecordScope::FUNCTION);
    guard.before(std::string(6000, 'x'));  // longer than the log can store
    EXPECT_EQ(execution_context_.op.load()(), -1);
    call("within");
  }
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.trace.operators.size(), 1u);
  EXPECT_EQ(record.trace.operators[0].parent, -1);
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].count, 1);
  EXPECT_THAT(record.dropped_records[0].detail, HasSubstr("memory limit of 4.00 KiB"));
}

TEST_F(TorchOperatorThreadsTest, PassesBeginAndEndWhileThreadsGoOnCalling) {
  constexpr int kPasses = 60;
  setting_.observation.memory_bytes = 1 << 20;
  const auto x = torch::ones({2});
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&done, x, i] {
      while (!done) {
        torch::add(x, x);
        call("of thread " + std::to_string(i));
      }
    });
  std::size_t seen = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    arm(Pass::kOps);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const event::PassRecord record = disarm();
    seen += record.trace.operators.size();
    for (std::size_t i = 0; i < record.trace.operators.size(); ++i) {
      const Operator& op = record.trace.operators[i];
      EXPECT_LT(op.parent, static_cast<std::int64_t>(i));
      const std::string name = name_of(record, op);
      EXPECT_TRUE(name == "aten::add" || name.starts_with("of thread ")) << name;
      if (op.end_ns != -1) {
        EXPECT_GE(op.end_ns, op.start_ns);
      }
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(seen, 0u);
  expect_nothing_left();
}

}  // namespace
}  // namespace kymo::collect
