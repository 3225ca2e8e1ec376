// SPDX-License-Identifier: Apache-2.0
#include "transformer/model.hpp"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <gmock/gmock.h>

#include <kymo/autocast.hpp>
#include <kymo/torch.hpp>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "transformer/reference.hpp"
#include "unit/plugins/fake_host.hpp"

namespace kymo::transformer {
namespace {

Config small_config() { return {.vocab_size = 31, .context = 12, .d_model = 24, .d_ff = 40, .layers = 2, .heads = 3}; }

Weights random_weights(const Config& config, at::ScalarType dtype, std::uint64_t seed = 3) {
  return make_weights(config, at::TensorOptions().dtype(dtype), libtorch::make_generator(at::kCPU, seed));
}

at::Tensor random_tokens(const Config& config, std::int64_t batch, std::int64_t sequence) {
  return at::randint(config.vocab_size, {batch, sequence}, at::TensorOptions().dtype(at::kLong));
}

/// The attentions that support every device, type and width.
const std::vector<std::string> kPortableAttention{"naive", "tiled", "sdpa", "sdpa_math"};

/// Attention and operators of the other layers.
using Choice = std::tuple<std::string, std::string>;

class Model : public testing::TestWithParam<Choice> {
 protected:
  static const std::string& attention() { return std::get<0>(GetParam()); }
  static FusedLayers fused() { return fused_layers(std::get<1>(GetParam())); }

  FakeHost host_;
  Context ctx_{host_.host(), host_.handle()};
};

TEST_P(Model, EqualsTheReferenceInDouble) {
  const Config config = small_config();
  Weights weights = random_weights(config, at::kDouble);
  {
    const c10::NoGradGuard no_gradients;  // norms of 1 would hide a norm that is not applied
    for (const at::Tensor& parameter : parameters(weights))
      if (parameter.dim() == 1) parameter.add_(at::randn_like(parameter) * 0.2);
  }
  LanguageModel model(config, weights, attention(), fused());
  const at::Tensor tokens = random_tokens(config, 3, 10), targets = random_tokens(config, 3, 10);
  const ModelReference expected = reference_model(config, weights, tokens, targets);
  EXPECT_LT(distance(model.logits(ctx_, tokens), expected.logits).absolute, 1e-10);
  const at::Tensor loss = model.loss(ctx_, tokens, targets);
  EXPECT_LT(distance(loss, expected.loss).absolute, 1e-10);
  loss.backward();
  const auto all = parameters(weights);
  ASSERT_EQ(all.size(), expected.gradients.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(all[i].grad().defined()) << i;
    EXPECT_GT(expected.gradients[i].abs().max().item<double>(), 1e-6) << i;
    EXPECT_LT(distance(all[i].grad(), expected.gradients[i]).absolute, 1e-10) << i;
  }
}

TEST_P(Model, DoesNotLookAhead) {
  const Config config = small_config();
  LanguageModel model(config, random_weights(config, at::kDouble), attention(), fused());
  const at::Tensor tokens = random_tokens(config, 1, 8);
  at::Tensor changed = tokens.clone();
  changed[0][5] = (changed[0][5].item<std::int64_t>() + 1) % config.vocab_size;
  const at::Tensor before = model.logits(ctx_, tokens), after = model.logits(ctx_, changed);
  EXPECT_LT(distance(after.narrow(0, 0, 5), before.narrow(0, 0, 5)).absolute, 1e-13);
  for (std::int64_t position = 5; position < 8; ++position)
    EXPECT_GT(distance(after[position], before[position]).absolute, 1e-3);
}

TEST_P(Model, AutocastComputesInBfloat16AndKeepsFp32Weights) {
  const Config config = small_config();
  const Weights weights = random_weights(config, at::kFloat);
  LanguageModel model(config, weights, attention(), fused());
  const at::Tensor tokens = random_tokens(config, 2, 8), targets = random_tokens(config, 2, 8);
  at::Tensor logits, loss;
  {
    const libtorch::Autocast autocast(at::kCPU, at::kBFloat16);
    logits = model.logits(ctx_, tokens);
    loss = model.loss(ctx_, tokens, targets);
  }
  EXPECT_EQ(logits.scalar_type(), at::kBFloat16);
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  loss.backward();
  for (const at::Tensor& parameter : parameters(weights)) EXPECT_EQ(parameter.grad().scalar_type(), at::kFloat);
  const ModelReference expected = reference_model(config, weights, tokens, targets);
  EXPECT_LT(distance(logits, expected.logits).relative, 0.05);
  EXPECT_EQ(model.logits(ctx_, tokens).scalar_type(), at::kFloat) << "autocast outlived its guard";
}

/// Logits, loss and gradients of a model under autocast.
std::vector<at::Tensor> under_autocast(const Context& ctx, const Config& config, const Weights& weights,
                                       const std::string& attention, const FusedLayers& fused) {
  LanguageModel model(config, weights, attention, fused);
  at::manual_seed(5);
  const at::Tensor tokens = random_tokens(config, 2, 8), targets = random_tokens(config, 2, 8);
  std::vector<at::Tensor> all;
  {
    const libtorch::Autocast autocast(at::kCPU, at::kBFloat16);
    all = {model.logits(ctx, tokens).detach(), model.loss(ctx, tokens, targets)};
  }
  all[1].backward();
  for (const at::Tensor& parameter : parameters(weights)) all.push_back(parameter.grad());
  return all;
}

TEST_P(Model, EqualsCastsIfTheWeightsOfItsProductsAreConverted) {
  const Config config = small_config();
  const Weights weights = random_weights(config, at::kFloat);
  const Weights converted = with_converted_products(weights, at::kBFloat16);
  EXPECT_TRUE(converted.embedding.is_same(weights.embedding) && converted.norm.is_same(weights.norm));
  std::vector<at::Tensor> cast = under_autocast(ctx_, config, weights, attention(), fused());
  for (const at::Tensor& parameter : parameters(weights)) parameter.mutable_grad() = at::Tensor();
  const std::vector<at::Tensor> direct = under_autocast(ctx_, config, converted, attention(), fused());
  ASSERT_EQ(direct.size(), cast.size());
  const auto all = parameters(converted);
  // A fused loss sums the gradient of an fp32 head in fp32: with a bf16 head, the same is rounded.
  if (fused().loss) {
    EXPECT_LT(distance(direct.back(), cast.back()).relative, 8e-3);
    cast.back() = direct.back();
  }
  for (std::size_t i = 0; i < direct.size(); ++i)
    EXPECT_TRUE(at::equal(direct[i].to(at::kFloat), cast[i].to(at::kFloat))) << i;
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(direct[i + 2].scalar_type(), all[i].scalar_type()) << i;
}

TEST_P(Model, RunsInEveryType) {
  const Config config = small_config();
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const Weights weights = random_weights(config, dtype);
    LanguageModel model(config, weights, attention(), fused());
    const at::Tensor tokens = random_tokens(config, 2, 8), targets = random_tokens(config, 2, 8);
    const at::Tensor loss = model.loss(ctx_, tokens, targets);
    loss.backward();
    const ModelReference expected = reference_model(config, weights, tokens, targets);
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : parameters(weights)) gradients.push_back(parameter.grad());
    const double tolerance = dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 1e-2 : 6e-2;
    EXPECT_LT(distance(loss, expected.loss).relative, tolerance) << c10::toString(dtype);
    EXPECT_LT(worst_distance(gradients, expected.gradients).relative, tolerance) << c10::toString(dtype);
  }
}

TEST_P(Model, NamesItsPartsAndClosesEveryScope) {
  const Config config = small_config();
  LanguageModel model(config, random_weights(config, at::kFloat), attention(), fused());
  model.loss(ctx_, random_tokens(config, 1, 4), random_tokens(config, 1, 4));
  EXPECT_EQ(host_.open_scopes, 0);
  for (const char* name : {"embedding", "block_0", "block_1", "attention", "feed_forward", "norm", "head", "loss"})
    EXPECT_THAT(host_.scopes, testing::Contains(name));
  EXPECT_THAT(host_.scopes, testing::Contains(attention() == "naive"   ? "softmax"
                                              : attention() == "tiled" ? "flash_attention"
                                                                       : "sdpa"));
}

INSTANTIATE_TEST_SUITE_P(Attention, Model,
                         testing::Combine(testing::ValuesIn(kPortableAttention), testing::Values("library", "fused")),
                         [](const auto& made) { return std::get<0>(made.param) + "_" + std::get<1>(made.param); });
INSTANTIATE_TEST_SUITE_P(AllButOne, Model,
                         testing::Combine(testing::Values("naive"), testing::ValuesIn(fused_layers_names())),
                         [](const auto& made) { return std::get<1>(made.param); });

TEST(Weights, AreSeededAndCounted) {
  const Config config = small_config();
  const auto first = parameters(random_weights(config, at::kFloat, 1)),
             again = parameters(random_weights(config, at::kFloat, 1));
  const auto other = parameters(random_weights(config, at::kFloat, 2));
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(at::equal(first[i], again[i])) << i;
    const bool drawn = first[i].dim() == 2;
    EXPECT_EQ(at::equal(first[i], other[i]), !drawn) << i;
    EXPECT_TRUE(first[i].requires_grad() && first[i].is_leaf());
    elements += first[i].numel();
  }
  EXPECT_EQ(elements, parameter_count(config));
  EXPECT_EQ(first.size(), 3u + 6u * 2u);
}

TEST(Weights, AreConverted) {
  const Weights weights = random_weights(small_config(), at::kFloat);
  const auto before = parameters(weights), after = parameters(converted(weights, at::kBFloat16));
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(at::equal(after[i], before[i].to(at::kBFloat16))) << i;
    EXPECT_TRUE(after[i].requires_grad() && after[i].is_leaf());
  }
}

TEST(ModelErrors, SayWhatIsWrong) {
  FakeHost host;
  const Context ctx(host.host(), host.handle());
  const Config config = small_config();
  LanguageModel model(config, random_weights(config, at::kFloat), "naive");
  EXPECT_THAT(
      [&] { model.logits(ctx, random_tokens(config, 1, 13)); },
      testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("13 tokens is longer than the context of 12")));
  EXPECT_THAT([&] { LanguageModel(config, random_weights(config, at::kFloat), "paged"); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("unknown attention 'paged'")));
  EXPECT_THROW(worst_distance({random_tokens(config, 1, 1)}, {}), std::invalid_argument);
}

TEST(Hold, JudgesSmallGradientsByTheirOwnSize) {
  const at::Tensor expected = at::randn({8}, at::kDouble) * 1e-4;
  Verification result;
  expect_close(result, "near", "", distance(expected * 1.01, expected), 0.05);
  expect_close(result, "wrong sign", "", distance(expected * -1, expected), 0.05);
  expect_close(result, "not a number", "", distance(expected * std::numeric_limits<double>::quiet_NaN(), expected),
               0.05);
  EXPECT_EQ(result.checks()[0].outcome, Outcome::Passed);
  EXPECT_EQ(result.checks()[1].outcome, Outcome::Failed);
  EXPECT_EQ(result.checks()[2].outcome, Outcome::Failed);
}

TEST(AttentionReference, AgreesWithAutogradOfTheNaiveForm) {
  FakeHost host;
  const Context ctx(host.host(), host.handle());
  for (const bool causal : {true, false})
    for (const std::string& name : kPortableAttention) {
      std::vector<at::Tensor> inputs;
      for (int i = 0; i < 3; ++i) inputs.push_back(at::randn({2, 2, 7, 6}, at::kDouble).requires_grad_(true));
      const at::Tensor gradient = at::randn({2, 2, 7, 6}, at::kDouble);
      const at::Tensor output = make_attention(name, causal)->apply(ctx, inputs[0], inputs[1], inputs[2]);
      output.backward(gradient);
      const AttentionReference expected = reference_attention(inputs[0], inputs[1], inputs[2], gradient, causal);
      EXPECT_LT(distance(output, expected.output).absolute, 1e-12) << name << causal;
      EXPECT_LT(distance(inputs[0].grad(), expected.query_gradient).absolute, 1e-12) << name << causal;
      EXPECT_LT(distance(inputs[1].grad(), expected.key_gradient).absolute, 1e-12) << name << causal;
      EXPECT_LT(distance(inputs[2].grad(), expected.value_gradient).absolute, 1e-12) << name << causal;
    }
}

}  // namespace
}  // namespace kymo::transformer
