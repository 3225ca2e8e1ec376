// SPDX-License-Identifier: Apache-2.0
#include "transformer/config.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace kymo::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Config, KnowsTheSizesOfBothEditions) {
  EXPECT_THAT(size_names(), testing::ElementsAre("tiny", "small", "medium", "large", "xl", "2.7B", "8B", "10B"));
  Config config;
  set_size(config, "xl");
  EXPECT_EQ(config.d_model, 1600);
  EXPECT_EQ(config.d_ff, 6400);
  EXPECT_EQ(config.layers, 48);
  EXPECT_EQ(config.heads, 25);
  EXPECT_EQ(config.head_dim(), 64);
  for (const std::string& name : size_names()) {
    set_size(config, name);
    EXPECT_NO_THROW(validate(config)) << name;
  }
}

TEST(FusedLayers, AreAllOrNoneOrAllButOne) {
  EXPECT_THAT(fused_layers_names(), testing::ElementsAre("library", "fused", "fused_except_norm", "fused_except_swiglu",
                                                         "fused_except_rotary", "fused_except_loss",
                                                         "fused_except_optimizer", "fused_except_master_weights"));
  const auto listed = [](const std::string& name) {
    const FusedLayers layers = fused_layers(name);
    return std::vector<bool>{layers.norm, layers.swiglu,    layers.rotary,
                             layers.loss, layers.optimizer, layers.master_weights};
  };
  EXPECT_THAT(listed("library"), testing::Each(false));
  EXPECT_THAT(listed("fused"), testing::Each(true));
  EXPECT_THAT(listed("fused_except_norm"), testing::ElementsAre(false, true, true, true, true, true));
  EXPECT_THAT(listed("fused_except_swiglu"), testing::ElementsAre(true, false, true, true, true, true));
  EXPECT_THAT(listed("fused_except_rotary"), testing::ElementsAre(true, true, false, true, true, true));
  EXPECT_THAT(listed("fused_except_loss"), testing::ElementsAre(true, true, true, false, true, true));
  EXPECT_THAT(listed("fused_except_optimizer"), testing::ElementsAre(true, true, true, true, false, false));
  EXPECT_THAT(listed("fused_except_master_weights"), testing::ElementsAre(true, true, true, true, true, false));
  EXPECT_THAT([] { fused_layers("fast"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("unknown layers 'fast', must be one of library, fused")));
}

TEST(Config, CountsParameters) {
  Config config;
  set_size(config, "2.7B");
  EXPECT_EQ(parameter_count(config), 3406809600);
  set_size(config, "10B");
  EXPECT_EQ(parameter_count(config), 12832823808);
  set_size(config, "small");
  EXPECT_EQ(parameter_count(config), 128625408);
}

// Computed by hand for tiny: d 64, f 256, 2 layers, vocabulary 10000; 2 sequences of 8 tokens are 16 tokens.
TEST(Config, CountsFlopsOfTinyAsByHand) {
  Config config;
  set_size(config, "tiny");
  const ForwardFlops flops = forward_flops(config, 2, 8);
  EXPECT_EQ(flops.projections, 2.0 * (4 * 2 * 16 * 64 * 64));
  EXPECT_EQ(flops.attention,
            2.0 * (2 * 2) * (2 * 2 * 8 * 8 * 32));  // 2 layers · 2 matrix multiplications · (batch · heads) of 8×32×8
  EXPECT_EQ(flops.feed_forward, 2.0 * (3 * 2 * 16 * 64 * 256));
  EXPECT_EQ(flops.head, 2.0 * 16 * 64 * 10000);
  EXPECT_EQ(flops.total(), 1048576.0 + 65536.0 + 3145728.0 + 20480000.0);
  EXPECT_EQ(flops.backward(), 2 * flops.total());
}

TEST(Config, RejectsImpossibleModelsInOneLine) {
  Config config;
  config.heads = 3;
  EXPECT_THAT([&] { validate(config); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("d_model 64 is not divisible by heads 3")));
  config.d_model = 63;
  EXPECT_THAT([&] { validate(config); }, ThrowsMessage<std::invalid_argument>(HasSubstr("must be even")));
  config = {};
  config.layers = 0;
  EXPECT_THAT([&] { validate(config); }, ThrowsMessage<std::invalid_argument>(HasSubstr("layers is 0")));
  config = {};
  config.vocab_size = -1;
  EXPECT_THROW(validate(config), std::invalid_argument);
  EXPECT_THAT([&] { set_size(config, "huge\n"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("tiny, small, medium, large, xl, 2.7B")));
}

}  // namespace
}  // namespace kymo::transformer
