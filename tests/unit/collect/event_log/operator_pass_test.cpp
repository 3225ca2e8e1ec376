// SPDX-License-Identifier: Apache-2.0
// Effects of nested calls, threads, limits and the end of a pass on the operator rows, without LibTorch.
#include "collect/event_log/operator_pass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "unit/collect/thread_position.hpp"

namespace kymo::collect {
namespace {

using event::Operator;
using testing::HasSubstr;

constexpr std::int64_t kPassBytes = std::int64_t{4} << 20;

// Passes live as long as the process, and so do the objects they point to.
constinit OperatorPasses g_passes;
ExecutionContext g_execution_context;

std::unique_ptr<OperatorPass> pass_with_rows(std::int64_t bytes = kPassBytes) {
  g_execution_context.this_thread = &set_thread_position;
  auto pass = std::make_unique<OperatorPass>(g_execution_context, now_ns());
  pass->keep_rows(bytes, true);
  return pass;
}

event::PassRecord end_pass() {
  event::PassRecord record;
  g_passes.end()->finish(record, "test");
  return record;
}

std::string text_of(const event::PassRecord& record, event::TextId text) { return record.trace.texts.text(text); }

std::string shapes_of(std::int64_t sequence) { return "[" + std::to_string(sequence % 97) + "]"; }

/// Calls of one thread, as reported by the LibTorch module.
class Caller {
 public:
  /// False without a pass. `number(pass)` returns the call's sequence number, from which its shapes are derived.
  template <class Number>
  bool begin(const void* call, const char* name, Number number) {
    OperatorPass* const pass = g_passes.current();
    if (pass == nullptr) return false;
    if (!calls_.belongs_to(pass)) calls_.begin(*pass);
    calls_.reserve();
    const std::int64_t sequence = number(pass);
    const RowText* name_text = nullptr;
    const RowText* shapes_text = nullptr;
    OperatorRow* row = nullptr;
    if (calls_.intern(name, name_text) && calls_.intern(shapes_of(sequence), shapes_text))
      row = calls_.add(name_text, shapes_text, sequence);
    if (row)
      calls_.open_row(call, name, *row);
    else
      calls_.open_dropped(call, name);
    return true;
  }
  bool begin(const void* call, const char* name) {
    return begin(call, name, [](const OperatorPass*) { return std::int64_t{-1}; });
  }
  void end(const void* call) {
    const OperatorPass* const pass = g_passes.current();
    if (pass != nullptr && calls_.belongs_to(pass)) calls_.close(call, pass->time());
  }
  void call(const char* name) {
    begin(this, name);
    end(this);
  }
  ThreadCalls& calls() { return calls_; }

 private:
  ThreadCalls calls_;
};

TEST(OperatorPass, NewCallsAreAddedWhileThePassRuns) {
  g_passes.begin(pass_with_rows());
  Caller caller;
  event::NewEvents events;
  caller.call("first");
  caller.begin(&events, "second");
  g_passes.current()->add_new(events);
  ASSERT_EQ(events.operators.size(), 2u);
  EXPECT_EQ(events.operators[0].number, 0);
  EXPECT_EQ(events.texts.text(events.operators[0].event.name), "first");
  EXPECT_GE(events.operators[0].event.end_ns, events.operators[0].event.start_ns);
  EXPECT_EQ(events.operators[1].event.end_ns, -1);
  caller.end(&events);
  caller.call("first");
  events.operators.clear();
  g_passes.current()->add_new(events);
  ASSERT_EQ(events.operators.size(), 1u);
  EXPECT_EQ(events.operators[0].number, 2);
  EXPECT_EQ(events.texts.text(events.operators[0].event.name), "first");
  EXPECT_EQ(events.texts.text(events.operators[0].event.shapes), shapes_of(-1));
  const event::PassRecord record = end_pass();
  EXPECT_EQ(record.trace.operators.size(), 3u);
  EXPECT_EQ(text_of(record, record.trace.operators[1].name), "second");
}

TEST(OperatorPass, CallsWithinCallsFormAChain) {
  constexpr int kDepth = 300;
  g_passes.begin(pass_with_rows());
  Caller caller;
  const std::array<char, kDepth> calls{};
  for (const char& call : calls) caller.begin(&call, "again");
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) caller.end(&*call);
  caller.call("again");
  const event::PassRecord record = end_pass();
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
  EXPECT_TRUE(record.dropped_records.empty());
}

TEST(OperatorPass, ManyCallsCrossTheBoundariesOfChunksInOrder) {
  constexpr int kCalls = 30'000;
  g_passes.begin(pass_with_rows(4 * kPassBytes));
  Caller caller;
  for (int i = 0; i < kCalls; ++i) caller.call(("number " + std::to_string(i % 3000)).c_str());
  const event::PassRecord record = end_pass();
  ASSERT_EQ(record.trace.operators.size(), static_cast<std::size_t>(kCalls));
  EXPECT_TRUE(record.dropped_records.empty());
  std::int64_t time_ns = record.trace.operators[0].start_ns;
  for (std::size_t i = 0; i < record.trace.operators.size(); ++i) {
    const Operator& op = record.trace.operators[i];
    ASSERT_EQ(text_of(record, op.name), "number " + std::to_string(i % 3000));
    EXPECT_EQ(op.parent, -1);
    EXPECT_GE(op.start_ns, time_ns);
    EXPECT_GE(op.end_ns, op.start_ns);
    time_ns = op.end_ns;
  }
}

TEST(OperatorPass, CallsOfThreadsThatEndedBeforeStayInTheRecord) {
  constexpr int kThreads = 40;
  g_passes.begin(pass_with_rows(4 * kPassBytes));
  for (int i = 0; i < kThreads; ++i)
    std::thread([i] { Caller().call(("of thread " + std::to_string(i)).c_str()); }).join();
  const event::PassRecord record = end_pass();
  ASSERT_EQ(record.trace.operators.size(), static_cast<std::size_t>(kThreads));
  std::set<std::uint32_t> threads;
  for (std::size_t i = 0; i < record.trace.operators.size(); ++i) {
    const Operator& op = record.trace.operators[i];
    EXPECT_EQ(text_of(record, op.name), "of thread " + std::to_string(i));
    EXPECT_GE(op.end_ns, op.start_ns);
    threads.insert(op.position.thread);
  }
  EXPECT_EQ(threads.size(), static_cast<std::size_t>(kThreads));
}

TEST(OperatorPass, ACallThatOutlivesItsPassTouchesNoLaterOne) {
  Caller caller;
  const char outlives = 0;
  g_passes.begin(pass_with_rows());
  caller.begin(&outlives, "outlives its pass");
  const event::PassRecord first = end_pass();
  ASSERT_EQ(first.trace.operators.size(), 1u);
  EXPECT_EQ(first.trace.operators[0].end_ns, -1);
  g_passes.begin(pass_with_rows());
  caller.call("before");
  caller.end(&outlives);
  caller.call("after");
  const event::PassRecord second = end_pass();
  ASSERT_EQ(second.trace.operators.size(), 2u);
  for (const Operator& op : second.trace.operators) {
    EXPECT_EQ(op.parent, -1);
    EXPECT_GE(op.end_ns, op.start_ns);
  }
}

TEST(OperatorPass, ACallThatEndsOnAnotherThreadHasNoEnd) {
  Caller caller;
  const char call = 0;
  g_passes.begin(pass_with_rows());
  caller.begin(&call, "ends elsewhere");
  std::thread([&call] {
    Caller other;
    other.call("there");
    other.end(&call);
  }).join();
  caller.call("within, as far as anybody knows");
  const event::PassRecord record = end_pass();
  ASSERT_EQ(record.trace.operators.size(), 3u);
  EXPECT_EQ(record.trace.operators[0].end_ns, -1);
  EXPECT_GE(record.trace.operators[1].end_ns, record.trace.operators[1].start_ns);
  EXPECT_EQ(record.trace.operators[1].parent, -1) << "another thread";
  EXPECT_EQ(record.trace.operators[2].parent, 0);
}

TEST(OperatorPass, EachCallOfEachThreadIsEitherKeptOrCounted) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 3000;
  g_passes.begin(pass_with_rows(100'000));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      Caller caller;
      for (int n = 0; n < kCalls; ++n) caller.call("call");
    });
  for (std::thread& thread : threads) thread.join();
  const event::PassRecord record = end_pass();
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_GT(record.trace.operators.size(), 100u);
  EXPECT_EQ(record.dropped_records[0].count + static_cast<std::int64_t>(record.trace.operators.size()),
            kThreads * kCalls);
  for (const Operator& op : record.trace.operators)
    EXPECT_EQ(text_of(record, op.name), "call") << "no number without a row";
}

TEST(OperatorPass, ACallWithoutARowIsNobodysParent) {
  Caller caller;
  const char call = 0;
  g_passes.begin(pass_with_rows(4096));
  caller.begin(&call, std::string(6000, 'x').c_str());
  EXPECT_EQ(caller.calls().innermost()->number, -1);
  caller.call("within");
  caller.end(&call);
  const event::PassRecord record = end_pass();
  ASSERT_EQ(record.trace.operators.size(), 1u);
  EXPECT_EQ(record.trace.operators[0].parent, -1);
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].count, 1);
  EXPECT_THAT(record.dropped_records[0].detail, HasSubstr("memory limit of 4.00 KiB"));
}

TEST(OperatorPass, ANumberWhoseRowNeverComesIsADroppedRecord) {
  Caller caller;
  g_passes.begin(pass_with_rows());
  caller.call("before");
  ASSERT_NE(caller.calls().add(nullptr, nullptr, -1), nullptr);  // a thread that is suspended within its callback
  const event::PassRecord record = end_pass();
  EXPECT_EQ(record.trace.operators.size(), 2u);
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].count, 1);
  EXPECT_THAT(record.dropped_records[0].detail, HasSubstr("not yet recorded"));
}

TEST(OperatorPass, FailedCallsAreCounted) {
  g_passes.begin(pass_with_rows());
  g_passes.current()->count_failed();
  g_passes.current()->count_failed();
  const event::PassRecord record = end_pass();
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].count, 2);
}

TEST(OperatorPass, WithoutRowsTheOutermostCallNumbersThoseWithin) {
  g_execution_context.this_thread = &set_thread_position;
  g_passes.begin(std::make_unique<OperatorPass>(g_execution_context, now_ns()));
  ThreadCalls calls;
  calls.begin(*g_passes.current());
  const std::array<char, 2> call{};
  for (std::int64_t number = 0; number < 3; ++number) {
    for (const char& each : call) {
      calls.reserve();
      calls.open_number(&each, "call", false);
      EXPECT_EQ(calls.innermost()->number, number);
    }
    calls.close(&call[0], -1);  // also closes the nested call
    EXPECT_EQ(calls.innermost(), nullptr);
  }
  const event::PassRecord record = end_pass();
  EXPECT_TRUE(record.trace.operators.empty());
  EXPECT_TRUE(record.dropped_records.empty());
}

TEST(OperatorPass, IsTheOnlyOneUnderWay) {
  g_passes.begin(pass_with_rows());
  EXPECT_THROW(g_passes.begin(pass_with_rows()), std::logic_error);
  end_pass();
  EXPECT_EQ(g_passes.current(), nullptr);
  EXPECT_EQ(g_passes.end(), nullptr);
}

/// A thread that makes pairs of nested calls, numbered within each pass, in whichever pass is active.
class BusyThread {
 public:
  static constexpr std::int64_t kMaxCalls = 2000;  // of one pass: they fit into its buffer

  explicit BusyThread(int index)
      : outer_("outer of " + std::to_string(index)), inner_("inner of " + std::to_string(index)) {
    thread_ = std::thread([this, index] {
      own_position().range = index;
      while (!done_) {
        if (!pair()) std::this_thread::yield();
      }
    });
  }
  void stop() {
    done_ = true;
    thread_.join();
  }
  /// Minimum number of published calls of the pass.
  std::int64_t published(const OperatorPass* pass) const { return joined_ == pass ? published_.load() : 0; }

 private:
  bool pair() {
    if (joined_ == g_passes.current() && next_ >= kMaxCalls) return false;
    const bool begun = begin(&outer_) && begin(&inner_);
    caller_.end(&inner_);
    caller_.end(&outer_);
    return begun;
  }
  bool begin(const std::string* name) {
    std::int64_t number = -1;
    const bool begun = caller_.begin(name, name->c_str(), [&](const OperatorPass* pass) {
      if (joined_ != pass) {
        next_ = 0;
        published_ = 0;
        joined_ = pass;
      }
      return number = next_++;
    });
    if (begun) published_ = number + 1;
    return begun;
  }

  const std::string outer_;
  const std::string inner_;
  Caller caller_;
  std::int64_t next_ = 0;
  std::atomic<const OperatorPass*> joined_{nullptr};
  std::atomic<std::int64_t> published_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

/// The rows of one thread, ordered by number: none is missing before the last, and each is complete.
void expect_whole(const event::PassRecord& record, const std::vector<const Operator*>& calls, int thread, int step) {
  const std::string suffix = " of " + std::to_string(thread);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Operator& op = *calls[i];
    ASSERT_EQ(op.sequence, static_cast<std::int64_t>(i)) << "in order, and no row is missing";
    ASSERT_EQ(op.position.step, step);
    ASSERT_EQ(op.position.thread, calls[0]->position.thread);
    const std::string name = text_of(record, op.name);
    ASSERT_TRUE(name == "outer" + suffix || name == "inner" + suffix) << name;
    ASSERT_EQ(text_of(record, op.shapes), shapes_of(op.sequence));
    if (i > 0) {
      ASSERT_GE(op.start_ns, calls[i - 1]->start_ns);
    }
    if (op.end_ns == -1) {
      ASSERT_GE(i + 2, calls.size()) << "only the last pair may be open";
    } else {
      ASSERT_GE(op.end_ns, op.start_ns);
    }
    if (name.starts_with("outer") || i == 0) {  // the outer call of the first one may belong to the pass before
      ASSERT_EQ(op.parent, -1);
    } else {
      ASSERT_EQ(&record.trace.operators[static_cast<std::size_t>(op.parent)], calls[i - 1]);
    }
  }
}

TEST(OperatorPass, PassesBeginAndEndWhileThreadsGoOnCalling) {
  constexpr int kThreads = 3;
  constexpr int kPasses = 40;
  std::array<std::unique_ptr<BusyThread>, kThreads> threads;
  for (int i = 0; i < kThreads; ++i) threads[static_cast<std::size_t>(i)] = std::make_unique<BusyThread>(i);
  for (int step = 0; step < kPasses && !testing::Test::HasFatalFailure(); ++step) {
    const std::int64_t wanted = 1 + step * 37 % 500;
    g_execution_context.step = step;
    g_passes.begin(pass_with_rows());
    const OperatorPass* const pass = g_passes.current();
    for (const auto& thread : threads) {
      while (thread->published(pass) < wanted) std::this_thread::yield();
    }
    std::array<std::int64_t, kThreads> published{};
    for (std::size_t i = 0; i < kThreads; ++i) published[i] = threads[i]->published(pass);
    const event::PassRecord record = end_pass();
    EXPECT_TRUE(record.dropped_records.empty());
    std::array<std::vector<const Operator*>, kThreads> calls;
    for (const Operator& op : record.trace.operators)
      calls.at(static_cast<std::size_t>(op.position.range)).push_back(&op);
    for (int i = 0; i < kThreads; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_GE(static_cast<std::int64_t>(calls[at].size()), published[at]) << "a row is lost";
      expect_whole(record, calls[at], i, step);
    }
  }
  g_execution_context.step = -1;
  for (const auto& thread : threads) thread->stop();
}

}  // namespace
}  // namespace kymo::collect
