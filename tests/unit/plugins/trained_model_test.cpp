// SPDX-License-Identifier: Apache-2.0
#include "training/trained_model.hpp"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include "transformer/config.hpp"

namespace kymo::training {
namespace {

using testing::IsEmpty;

ModelSetting fused(const char* model, OperatorSetting operators) {
  operators.fused = transformer::fused_layers("fused");
  return {model, 16, 100, "naive", operators};
}

/// The types of the parameters, and the master weights of those that have one, which round to them.
void expect_masters(const ModelSetting& setting, std::size_t expected_masters, at::ScalarType narrow) {
  const auto model = make_model(setting, at::kCPU, 1);
  const std::vector<at::Tensor> parameters = model->trained(), masters = model->take_master_weights();
  ASSERT_EQ(masters.size(), parameters.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < masters.size(); ++i) {
    EXPECT_TRUE(parameters[i].requires_grad()) << i;
    EXPECT_EQ(parameters[i].scalar_type() == narrow, masters[i].defined()) << i;
    if (!masters[i].defined()) continue;
    ++count;
    EXPECT_EQ(masters[i].scalar_type(), at::kFloat) << i;
    EXPECT_FALSE(masters[i].requires_grad()) << i;
    EXPECT_TRUE(at::equal(masters[i].to(narrow), parameters[i])) << i;
  }
  EXPECT_EQ(count, expected_masters);
  EXPECT_THAT(model->take_master_weights(), IsEmpty()) << "they are moved out";
}

TEST(TrainedModel, HasMasterWeightsOfMatricesUnderAutocast) {
  // Four matrices in each of two blocks, and the head; the embedding and the norms are fp32.
  expect_masters(fused("tiny", {.autocast = at::kBFloat16}), 9, at::kBFloat16);
}

TEST(TrainedModel, HasMasterWeightsOfAllWeights) {
  expect_masters(fused("tiny", {.dtype = at::kHalf, .master_weights = true}), 15, at::kHalf);
  expect_masters(fused("tied", {.dtype = at::kBFloat16, .master_weights = true}), 4, at::kBFloat16);
  expect_masters(fused("frozen", {.dtype = at::kBFloat16, .master_weights = true}), 2, at::kBFloat16);
}

TEST(TrainedModel, HasNoMasterWeightsThatNoOptimizerUpdates) {
  const auto masters = [](const ModelSetting& setting) {
    return make_model(setting, at::kCPU, 1)->take_master_weights();
  };
  EXPECT_THAT(masters(fused("tiny", {})), IsEmpty());
  EXPECT_THAT(masters(fused("tiny", {.autocast = at::kBFloat16, .fused_optimizer = false})), IsEmpty());
  EXPECT_THAT(masters(fused("toy", {.autocast = at::kBFloat16})), IsEmpty()) << "the weights of perceptrons are cast";
  EXPECT_THAT(masters({"tiny", 16, 100, "naive", {.dtype = at::kBFloat16, .master_weights = true}}), IsEmpty())
      << "with LibTorch's AdamW";
}

}  // namespace
}  // namespace kymo::training
