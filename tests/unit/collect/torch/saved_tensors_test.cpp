// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <string>
#include <vector>

#include "unit/collect/torch/torch_test.hpp"

namespace kymo::collect {
namespace {

using measure::Pass;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Keeps its input, and one of its outputs has no gradient.
struct Halved : torch::autograd::Function<Halved> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& input) {
    ctx->save_for_backward({input});
    const at::Tensor rest = input.detach().clone();
    ctx->mark_non_differentiable({rest});
    return {input / 2, rest};
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    ctx->get_saved_variables();
    return {gradients[0] / 2};
  }
};

/// Differentiates another graph in its backward pass, as a checkpoint.
struct Again : torch::autograd::Function<Again> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input) {
    ctx->save_for_backward({input});
    return input.exp();
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const c10::AutoGradMode with_gradients(true);
    const at::Tensor leaf = ctx->get_saved_variables()[0].detach().requires_grad_(true);
    leaf.exp().backward(gradients[0]);
    return {leaf.grad()};
  }
};

class SavedTensorsTest : public TorchTest {
 protected:
  static at::Tensor leaf() { return torch::ones({4, 2}).requires_grad_(true); }
  static std::vector<std::string> saved(const event::PassRecord& record) {
    std::vector<std::string> all;
    for (const event::SavedTensor& each : record.memory_trace.saved_tensors)
      all.push_back(record.trace.texts.text(each.name) + " " + record.trace.texts.text(each.type) + " " +
                    std::to_string(each.bytes) + (each.nested ? " nested" : ""));
    return all;
  }
};

TEST_F(SavedTensorsTest, AreThoseOfAllNodesOfTheNewestStep) {
  arm(Pass::kMemory);
  leaf().exp().exp().sum().backward();
  execution_context_.step = 8;
  const at::Tensor input = leaf();
  const at::Tensor powers = input.exp();
  (powers * input).sum().backward();
  const event::PassRecord record = disarm();
  EXPECT_THAT(saved(record), UnorderedElementsAre("MulBackward0 f32[4, 2] 32", "MulBackward0 f32[4, 2] 32",
                                                  "ExpBackward0 f32[4, 2] 32"));
  int shares = 0;
  for (const event::SavedTensor& each : record.memory_trace.saved_tensors) {
    shares += each.address == reinterpret_cast<std::uintptr_t>(powers.const_data_ptr());
    EXPECT_EQ(each.storage_bytes, 32);
    EXPECT_EQ(each.position.step, 8);
    EXPECT_GE(each.node.sequence, 0);
  }
  EXPECT_EQ(shares, 2);
  EXPECT_THAT(record.dropped_records, IsEmpty());
}

TEST_F(SavedTensorsTest, OfFunctionsAreNamedByTheFunction) {
  arm(Pass::kMemory);
  const variable_list halves = Halved::apply(leaf());
  halves[0].sum().backward();
  const event::PassRecord record = disarm();
  EXPECT_THAT(saved(record), ElementsAre("Halved f32[4, 2] 32"));
  EXPECT_THAT(record.dropped_records, IsEmpty());
}

TEST_F(SavedTensorsTest, OfSeveralRootsAreThoseOfAll) {
  arm(Pass::kMemory);
  torch::autograd::backward({leaf().exp().sum(), leaf().sin().sum()}, {at::Tensor(), at::Tensor()});
  const event::PassRecord record = disarm();
  EXPECT_THAT(saved(record), UnorderedElementsAre("ExpBackward0 f32[4, 2] 32", "SinBackward0 f32[4, 2] 32"));
  EXPECT_THAT(record.dropped_records, IsEmpty());
}

TEST_F(SavedTensorsTest, OfAGraphWithinAnotherOneAreToldApart) {
  arm(Pass::kMemory);
  Again::apply(leaf().sin()).sum().backward();
  const event::PassRecord record = disarm();
  EXPECT_THAT(saved(record), UnorderedElementsAre("SinBackward0 f32[4, 2] 32", "Again f32[4, 2] 32",
                                                  "ExpBackward0 f32[4, 2] 32 nested"));
}

TEST_F(SavedTensorsTest, AreRecordedInTheMemoryPassOnly) {
  arm(Pass::kOps);
  leaf().exp().sum().backward();
  EXPECT_THAT(saved(disarm()), IsEmpty());
}

}  // namespace
}  // namespace kymo::collect
