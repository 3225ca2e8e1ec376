// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/autograd/function.h>
#include <torch/library.h>
#include <torch/types.h>

#include <algorithm>
#include <map>
#include <thread>
#include <vector>

#include "unit/collect/torch/torch_test.hpp"

namespace kymo::collect {
namespace {

using event::Operator;
using measure::Pass;
using testing::HasSubstr;
using testing::Not;

class TorchOperatorsTest : public TorchTest {
 protected:
  static std::vector<Operator> named(const event::PassRecord& record, const std::string& name) {
    std::vector<Operator> found;
    for (const Operator& op : record.trace.operators)
      if (record.trace.texts.text(op.name) == name) found.push_back(op);
    return found;
  }
  static std::int64_t number_of(const event::PassRecord& record, const Operator& op) {
    const auto found =
        std::find_if(record.trace.operators.begin(), record.trace.operators.end(),
                     [&](const Operator& each) { return each.start_ns == op.start_ns && each.name == op.name; });
    return found - record.trace.operators.begin();
  }
};

TEST_F(TorchOperatorsTest, AreNamedRightlyWhereTheNameOfAnotherLayThatIsGone) {
  constexpr int kOperators = 50;
  const auto name = [](int i) { return "operator_with_a_long_name_" + std::to_string(i); };
  arm(Pass::kOps);
  for (int i = 0; i < kOperators; ++i) {
    torch::Library library(torch::Library::DEF, "kymo_test", std::nullopt, __FILE__, __LINE__);
    library.def(name(i).c_str(), [] { return std::int64_t{1}; });
    const auto found =
        c10::Dispatcher::singleton().findSchemaOrThrow(("kymo_test::" + name(i)).c_str(), "").typed<std::int64_t()>();
    for (int call = 0; call <= i % 3; ++call) found.call();
  }
  const event::PassRecord record = disarm();
  for (int i = 0; i < kOperators; ++i)
    EXPECT_EQ(named(record, "kymo_test::" + name(i)).size(), static_cast<std::size_t>(1 + i % 3)) << name(i);
}

TEST_F(TorchOperatorsTest, AForwardOperatorSharesItsNumberWithItsBackwardNode) {
  const auto a = torch::randn({4, 8}, torch::requires_grad());
  const auto b = torch::randn({8, 3}, torch::requires_grad());
  arm(Pass::kOps);
  torch::mm(a, b).sum().backward();
  const event::PassRecord record = disarm();
  const auto forward = named(record, "aten::mm");
  const auto node = named(record, "MmBackward0");
  ASSERT_EQ(forward.size(), 3u) << "one forward, two for the gradients";
  ASSERT_EQ(node.size(), 1u);
  EXPECT_FALSE(forward[0].backward);
  EXPECT_TRUE(node[0].backward);
  EXPECT_GE(forward[0].sequence, 0);
  EXPECT_EQ(forward[0].sequence, node[0].sequence);
  EXPECT_EQ(node[0].position.node.sequence, node[0].sequence);
  EXPECT_EQ(node[0].position.node.thread, at::RecordFunction::currentThreadId())
      << "the thread that ran the forward pass";
  EXPECT_EQ(forward[0].position.node.sequence, -1) << "no node in the forward pass";
  for (const std::size_t gradient : {1, 2}) {
    EXPECT_EQ(forward[gradient].position.node.sequence, node[0].sequence) << "within the backward node";
    EXPECT_EQ(forward[gradient].parent, number_of(record, node[0]));
  }
  for (const Operator& accumulated : named(record, "torch::autograd::AccumulateGrad")) {
    EXPECT_EQ(accumulated.sequence, -1) << "gradient accumulation has no number";
    EXPECT_EQ(accumulated.position.node.sequence, -1);
  }
  EXPECT_EQ(named(record, "torch::autograd::AccumulateGrad").size(), 2u);
  for (const Operator& op : record.trace.operators)
    EXPECT_THAT(record.trace.texts.text(op.name), Not(HasSubstr("engine")));
}

TEST_F(TorchOperatorsTest, AddingUpGradientsBelongsToTheNodeThatGaveThem) {
  const auto x = torch::ones({4}, torch::requires_grad());
  arm(Pass::kOps);
  const auto product = x * 2;
  (product * product).sum().backward();
  const event::PassRecord record = disarm();
  const auto nodes = named(record, "MulBackward0");
  ASSERT_EQ(nodes.size(), 1u);
  const auto added = named(record, "aten::add_");
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].parent, number_of(record, nodes[0])) << "the engine adds before it goes on to the next node";
  EXPECT_EQ(added[0].position.node.sequence, nodes[0].sequence);
}

TEST_F(TorchOperatorsTest, CallsHaveParentsPositionsAndTimesWithinThem) {
  const auto x = torch::ones({2, 3});
  arm(Pass::kOps);
  torch::ones({5});
  const event::PassRecord record = disarm();
  const auto outer = named(record, "aten::ones");
  ASSERT_EQ(outer.size(), 1u);
  EXPECT_EQ(outer[0].parent, -1);
  const std::int64_t parent = number_of(record, outer[0]);
  std::size_t children = 0;
  for (std::size_t i = 0; i < record.trace.operators.size(); ++i) {
    const Operator& op = record.trace.operators[i];
    EXPECT_LT(op.parent, static_cast<std::int64_t>(i)) << "numbered in order of beginning";
    EXPECT_EQ(op.position.step, 7);
    EXPECT_EQ(op.position.phase, 2);
    EXPECT_EQ(op.shapes, event::kNoText) << "not asked for";
    EXPECT_GE(op.start_ns, 0);
    EXPECT_GE(op.end_ns, op.start_ns);
    if (op.parent != parent) continue;
    ++children;
    EXPECT_GE(op.start_ns, outer[0].start_ns);
    EXPECT_LE(op.end_ns, outer[0].end_ns);
  }
  EXPECT_EQ(children, 2u) << "empty and fill_";
}

TEST_F(TorchOperatorsTest, ArgumentsAreDescribedInTheOrderOfTheSchema) {
  const auto a = torch::ones({4, 256});
  const auto b = torch::ones({256}, at::kBFloat16);
  const auto scalar = torch::ones({});
  const std::vector<at::Tensor> few(2, a), many(500, a);
  setting_.observation.shapes = true;
  arm(Pass::kOps);
  torch::add(a, b);
  torch::mul(a, b.expand({4, 256}));
  torch::neg(scalar);
  torch::sum(a, {0}, true);
  torch::layer_norm(a, {256}, {}, b.to(at::kFloat));
  torch::leaky_relu(a, 0.5);
  torch::cat(few);
  torch::cat(many, 1);
  const event::PassRecord record = disarm();
  const auto arguments = [&](const char* name, std::size_t index = 0) {
    return record.trace.texts.text(named(record, name).at(index).shapes);
  };
  EXPECT_EQ(arguments("aten::add"), "f32[4, 256] bf16[256] 1");
  EXPECT_EQ(arguments("aten::mul"), "f32[4, 256] bf16[4*, 256]") << "an expanded dimension takes no memory";
  EXPECT_EQ(arguments("aten::neg"), "f32[]");
  EXPECT_EQ(arguments("aten::sum"), "f32[4, 256] (0) true None");
  EXPECT_EQ(arguments("aten::native_layer_norm"), "f32[4, 256] (256) None f32[256]") << "the epsilon is omitted";
  EXPECT_EQ(arguments("aten::leaky_relu"), "f32[4, 256]");
  EXPECT_EQ(arguments("aten::cat"), "{f32[4, 256], f32[4, 256]} 0");
  EXPECT_EQ(arguments("aten::cat", 1), "{500 tensors, 512000 elements, 2048000 bytes} 1");
}

TEST_F(TorchOperatorsTest, LongArgumentsAreTruncated) {
  const auto tensor = torch::ones(std::vector<std::int64_t>(60, 1));
  setting_.observation.shapes = true;
  arm(Pass::kOps);
  torch::addcmul(tensor, tensor, tensor);
  const event::PassRecord record = disarm();
  const std::string text = record.trace.texts.text(named(record, "aten::addcmul").at(0).shapes);
  EXPECT_LT(text.size(), 700u);
  EXPECT_THAT(text, testing::EndsWith(" ..."));
}

TEST_F(TorchOperatorsTest, ThreadsAreToldApartAndTheirEndsDoNotMix) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 200;
  arm(Pass::kOps);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([] {
      const auto x = torch::ones({3});
      for (int call = 0; call < kCalls; ++call) torch::add(x, x);
    });
  for (std::thread& thread : threads) thread.join();
  const event::PassRecord record = disarm();
  const auto calls = named(record, "aten::add");
  ASSERT_EQ(calls.size(), static_cast<std::size_t>(kThreads * kCalls));
  std::map<std::uint32_t, int> by_thread;
  for (const Operator& op : calls) ++by_thread[op.position.thread];
  EXPECT_EQ(by_thread.size(), static_cast<std::size_t>(kThreads));
  for (const auto& [thread, count] : by_thread) EXPECT_EQ(count, kCalls);
  for (const Operator& op : record.trace.operators) {
    EXPECT_GE(op.end_ns, op.start_ns);
    if (op.parent < 0) continue;
    EXPECT_EQ(record.trace.operators[static_cast<std::size_t>(op.parent)].position.thread, op.position.thread);
  }
}

TEST_F(TorchOperatorsTest, TheOpenOperatorIsTheInnermostAndItsNumberIsItsRow) {
  static ExecutionContext* execution_context = nullptr;
  static std::int64_t number = -1;
  static std::string name;
  execution_context = &execution_context_;
  arm(Pass::kOps);
  EXPECT_EQ(execution_context_.op.load()(), -1);
  EXPECT_EQ(execution_context_.op_name.load()(), "");
  // Callbacks run in the order of their handles: this one runs after the module's.
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback([](const at::RecordFunction& f) {
    if (std::string_view(f.name()) == "aten::fill_") {
      number = execution_context->position().op;
      name = execution_context->op_name.load()();
    }
    return std::unique_ptr<at::ObserverContext>();
  }));
  torch::ones({2});
  at::removeCallback(handle);
  EXPECT_EQ(execution_context_.op.load()(), -1) << "it has ended";
  const event::PassRecord record = disarm();
  EXPECT_EQ(name, "aten::fill_");
  ASSERT_GE(number, 0);
  EXPECT_EQ(record.trace.texts.text(record.trace.operators.at(static_cast<std::size_t>(number)).name), "aten::fill_");
  EXPECT_EQ(record.trace.operators[static_cast<std::size_t>(number)].position.op, -1);
}

TEST_F(TorchOperatorsTest, ACallThatIsOpenAtTheEndHasNoEnd) {
  arm(Pass::kOps);
  event::PassRecord record;
  {
    at::RecordFunction guard(at::RecordScope::FUNCTION);
    guard.before("left \"open\"\n");
    record = disarm();
  }
  ASSERT_EQ(record.trace.operators.size(), 1u);
  EXPECT_EQ(record.trace.operators[0].end_ns, -1);
  EXPECT_EQ(record.trace.texts.text(record.trace.operators[0].name), "left \"open\"\n");
  arm(Pass::kOps);
  torch::ones({1});
  EXPECT_EQ(named(disarm(), "aten::ones").at(0).parent, -1) << "the open call of an earlier pass is forgotten";
}

TEST_F(TorchOperatorsTest, UserScopesAreNotOperators) {
  arm(Pass::kOps);
  {
    RECORD_USER_SCOPE("mine");
  }
  EXPECT_TRUE(disarm().trace.operators.empty());
}

TEST_F(TorchOperatorsTest, WhatGoesBeyondTheBoundIsCounted) {
  setting_.observation.memory_bytes = 10'000;
  arm(Pass::kOps);
  const auto x = torch::ones({1});
  for (int i = 0; i < 1000; ++i) torch::add(x, x);
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].source, "kymo_torch");
  EXPECT_GT(record.trace.operators.size(), 0u);
  EXPECT_EQ(record.dropped_records[0].count + static_cast<std::int64_t>(record.trace.operators.size()), 1000 + 3)
      << "ones, empty, fill_";
  EXPECT_THAT(record.dropped_records[0].detail, HasSubstr("operator calls"));
}

TEST_F(TorchOperatorsTest, ATraceKnowsTheNodeButWatchesNoOperator) {
  static ExecutionContext* execution_context = nullptr;
  static event::AutogradPosition seen;
  execution_context = &execution_context_;
  const auto x = torch::ones({2}, torch::requires_grad());
  arm(Pass::kTrace);
  EXPECT_FALSE(at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION).has_value());
  const event::AutogradPosition next = execution_context_.next_node.load()();
  const auto y = x * 2;
  EXPECT_EQ(y.grad_fn()->sequence_nr(), static_cast<std::uint64_t>(next.sequence));
  EXPECT_EQ(y.grad_fn()->thread_id(), next.thread);
  EXPECT_EQ(execution_context_.next_node.load()().sequence, next.sequence + 1);
  EXPECT_EQ(execution_context_.position().node.sequence, -1);
  EXPECT_EQ(execution_context_.position().op, -1);
  y.grad_fn()->add_pre_hook([] {
    struct ReadStatus final : torch::autograd::FunctionPreHook {
      torch::autograd::variable_list operator()(const torch::autograd::variable_list& gradients) override {
        seen = execution_context->position().node;
        return gradients;
      }
    };
    return std::make_unique<ReadStatus>();
  }());
  y.sum().backward();
  EXPECT_EQ(seen.sequence, next.sequence);
  EXPECT_EQ(seen.thread, next.thread);
  EXPECT_TRUE(disarm().trace.operators.empty());
  expect_nothing_left();
}

}  // namespace
}  // namespace kymo::collect
