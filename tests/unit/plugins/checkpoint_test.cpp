// SPDX-License-Identifier: Apache-2.0
#include "transformer/checkpoint.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <kymo/autocast.hpp>
#include <kymo/torch.hpp>
#include <optional>
#include <tuple>

#include "transformer/model.hpp"
#include "unit/plugins/fake_host.hpp"

namespace kymo::transformer {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

const Config kSmall{.vocab_size = 31, .context = 12, .d_model = 24, .d_ff = 40, .layers = 5, .heads = 3};

struct Result {
  at::Tensor loss;
  std::vector<at::Tensor> gradients;
};

/// The loss and the gradients of a model in fp32, with the same weights and tokens each time.
Result train(const Context& ctx, const std::string& attention, const std::string& operators,
             const CheckpointSetting& checkpoint, std::optional<at::ScalarType> autocast = {}) {
  at::manual_seed(5);
  const Weights weights =
      make_weights(kSmall, at::TensorOptions().dtype(at::kFloat), libtorch::make_generator(at::kCPU, 3));
  const auto drawn = at::randint(kSmall.vocab_size, {2, 3, kSmall.context}, at::TensorOptions().dtype(at::kLong));
  LanguageModel model(kSmall, weights, attention, fused_layers(operators), checkpoint);
  at::Tensor loss;
  {
    std::optional<libtorch::Autocast> mixed;
    if (autocast) mixed.emplace(at::kCPU, *autocast);
    loss = model.loss(ctx, drawn[0], drawn[1]);
  }
  {
    auto phase = ctx.phase("backward");
    loss.backward();
  }
  Result result{loss.detach(), {}};
  for (const at::Tensor& parameter : parameters(weights)) result.gradients.push_back(parameter.grad());
  return result;
}

using Case = std::tuple<CheckpointSetting, std::string, std::string>;

class Checkpoints : public testing::TestWithParam<Case> {
 protected:
  FakeHost host_;
  Context ctx_{host_.host(), host_.handle()};
};

TEST_P(Checkpoints, GiveTheSameLossAndGradients) {
  const auto& [setting, attention, operators] = GetParam();
  for (const std::optional<at::ScalarType> autocast : {std::optional<at::ScalarType>(), std::optional(at::kBFloat16)}) {
    const Result kept = train(ctx_, attention, operators, {}, autocast);
    host_.phases.clear();
    host_.scopes.clear();
    const Result recomputed = train(ctx_, attention, operators, setting, autocast);
    SCOPED_TRACE(autocast ? "autocast" : "fp32");
    EXPECT_TRUE(at::equal(recomputed.loss, kept.loss));
    ASSERT_EQ(recomputed.gradients.size(), kept.gradients.size());
    for (std::size_t i = 0; i < kept.gradients.size(); ++i)
      EXPECT_TRUE(at::equal(recomputed.gradients[i], kept.gradients[i])) << i;
    EXPECT_EQ(host_.open_scopes, 0);
    EXPECT_THAT(host_.phases, IsSupersetOf({"backward", "recompute", "backward"}));
    EXPECT_EQ(host_.phases.back(), "backward") << "the phase that was interrupted begins again";
  }
}

CheckpointSetting blocks_of(std::int64_t blocks) { return {.kind = Checkpointing::kBlocks, .blocks = blocks}; }
CheckpointSetting nested_to(std::int64_t blocks) { return {.kind = Checkpointing::kNested, .blocks = blocks}; }
CheckpointSetting selective(std::int64_t feed_forward_blocks) {
  return {.kind = Checkpointing::kSelective, .feed_forward_blocks = feed_forward_blocks};
}

INSTANTIATE_TEST_SUITE_P(Kinds, Checkpoints,
                         testing::Values(Case{blocks_of(1), "naive", "library"}, Case{blocks_of(2), "sdpa", "library"},
                                         Case{blocks_of(2), "tiled", "fused"}, Case{blocks_of(9), "naive", "library"},
                                         Case{nested_to(1), "naive", "library"}, Case{nested_to(2), "sdpa", "fused"},
                                         Case{selective(0), "naive", "library"}, Case{selective(0), "sdpa", "fused"},
                                         Case{selective(2), "naive", "library"}, Case{selective(2), "tiled", "fused"},
                                         Case{selective(9), "sdpa", "fused_except_norm"},
                                         Case{selective(9), "sdpa", "fused_except_swiglu"},
                                         Case{selective(9), "sdpa", "fused"}));

TEST_F(Checkpoints, RecomputeEachBlockOnceAndNestedOnesOncePerLevel) {
  const auto count = [&](const CheckpointSetting& setting) {
    host_.scopes.clear();
    train(ctx_, "naive", "library", setting);
    std::vector<std::int64_t> entries;
    for (std::int64_t i = 0; i < kSmall.layers; ++i)
      entries.push_back(std::ranges::count(host_.scopes, "block_" + std::to_string(i)));
    return entries;
  };
  EXPECT_THAT(count({}), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(count({Checkpointing::kBlocks, 2}), ElementsAre(2, 2, 2, 2, 2));
  // Segments of 2 and 3 blocks; 1 and 1, 1 and 2; 1 and 1.
  EXPECT_THAT(count({Checkpointing::kNested, 1}), ElementsAre(3, 3, 3, 4, 4));
  EXPECT_THAT(count({Checkpointing::kNested, 2}), ElementsAre(2, 2, 2, 2, 2));
}

TEST_F(Checkpoints, ADiscardedResultHasNoMemoryUntilItIsNeeded) {
  const at::Tensor input = at::arange(6, at::TensorOptions().dtype(at::kFloat)).requires_grad_(true);
  int runs = 0;
  Discardable doubled(ctx_, {"outer"}, {input}, [&](const std::vector<at::Tensor>& inputs) {
    ++runs;
    return std::vector{inputs.front() * 2.0};
  });
  const c10::Storage storage = doubled.result().storage();
  const at::Tensor squared = doubled.result() * doubled.result();
  doubled.discard_after(squared);
  EXPECT_EQ(storage.data(), nullptr);
  squared.sum().backward();
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(at::equal(input.grad(), input.detach() * 8.0));
  EXPECT_EQ(storage.data(), nullptr) << "freed again";
  EXPECT_THAT(host_.scopes, ElementsAre("outer"));
}

TEST_F(Checkpoints, AResultOfKeptOperatorsIsRestoredOnceAndNotDifferentiated) {
  const at::Tensor input = at::arange(6, at::TensorOptions().dtype(at::kFloat)).requires_grad_(true);
  int runs = 0;
  const Part twice = [&](const std::vector<at::Tensor>& inputs) {
    ++runs;
    EXPECT_FALSE(at::GradMode::is_enabled());
    return std::vector{inputs.front() * 2.0};
  };
  // Each restores its own values, the second from those of the first.
  Discardable doubled(ctx_, {"outer"}, input * 2.0, {input}, twice);
  Discardable quadrupled(ctx_, {"outer"}, doubled.result() * 2.0, {doubled.result()}, twice);
  const c10::Storage first = doubled.result().storage(), second = quadrupled.result().storage();
  const at::Tensor squared = quadrupled.result() * quadrupled.result();
  doubled.discard_after(squared);
  quadrupled.discard_after(squared);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(second.data(), nullptr);
  squared.sum().backward();
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(at::equal(input.grad(), input.detach() * 32.0));
  EXPECT_THAT(host_.scopes, ElementsAre("outer", "outer"));
}

TEST_F(Checkpoints, SelectiveOnesComputeGateAndUpOfTheFirstBlocksAgain) {
  train(ctx_, "sdpa", "fused", selective(2));
  std::vector<std::int64_t> computed_again;  // by block: the product of gate and up, and these
  for (std::int64_t i = 0; i < kSmall.layers; ++i) {
    const std::vector<std::string> scopes{"block_" + std::to_string(i), "feed_forward"};
    std::int64_t count = 0;
    for (auto at = host_.scopes.begin();
         (at = std::search(at, host_.scopes.end(), scopes.begin(), scopes.end())) != host_.scopes.end(); ++at)
      ++count;
    computed_again.push_back(count);
  }
  EXPECT_THAT(computed_again, ElementsAre(2, 2, 1, 1, 1));
}

TEST(CheckpointNames, AreThoseOfTheSettings) {
  EXPECT_EQ(checkpoint_named("selective"), Checkpointing::kSelective);
  EXPECT_THAT([] { checkpoint_named("all"); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("none, blocks, nested, selective")));
}

}  // namespace
}  // namespace kymo::transformer
