// SPDX-License-Identifier: Apache-2.0
// Calls the built plugins through their C table, as a worker does, on the CPU.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "unit/plugins/driven.hpp"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::map<std::string, FakeHost::Value> kSmallModel{
    {"context", std::int64_t{16}}, {"batch", std::int64_t{2}}, {"vocab_size", std::int64_t{50}}};

std::map<std::string, FakeHost::Value> with(std::map<std::string, FakeHost::Value> base,
                                            const std::map<std::string, FakeHost::Value>& more) {
  for (const auto& [key, value] : more) base[key] = value;
  return base;
}

TEST(TransformerLm, DescribesItself) {
  const kymo_workload& table = *load("transformer_lm");
  EXPECT_STREQ(table.name, "transformer_lm");
  EXPECT_EQ(table.devices, std::uint32_t{KYMO_CPU | KYMO_CUDA});
  std::vector<std::string> phases(table.phases, table.phases + table.phase_count);
  EXPECT_THAT(phases, ElementsAre("forward", "backward", "recompute", "optimizer", "replay"));
  for (std::uint32_t i = 0; i < table.parameter_count; ++i) EXPECT_STRNE(table.parameters[i].documentation, "");
}

TEST(TransformerLm, ListsHowAStepIsExecuted) {
  const kymo_workload& table = *load("transformer_lm");
  const kymo_parameter* end = table.parameters + table.parameter_count;
  const kymo_parameter* found =
      std::find_if(table.parameters, end, [](const auto& one) { return std::string(one.name) == "execution"; });
  ASSERT_NE(found, end);
  EXPECT_EQ(found->type, std::uint32_t{KYMO_CHOICE});
  EXPECT_STREQ(found->default_value.text, "eager");
  EXPECT_THAT(std::vector<std::string>(found->choices, found->choices + found->choice_count),
              ElementsAre("eager", "graph"));
}

TEST(TransformerLm, TrainsAndReports) {
  Driven run("transformer_lm", kSmallModel);
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  EXPECT_THAT(std::vector<std::string>(run.host.phases.begin(), run.host.phases.begin() + 3),
              ElementsAre("forward", "backward", "optimizer"));
  EXPECT_EQ(run.host.phases.size(), 9u);
  const double parameters = 2 * 50 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 256 + 2 * 64) + 64;
  EXPECT_EQ(run.host.numbers["parameters"], parameters);
  EXPECT_EQ(run.host.numbers["d_model"], 64);
  EXPECT_EQ(run.host.numbers["d_ff"], 256);
  EXPECT_EQ(run.host.numbers["layers"], 2);
  EXPECT_EQ(run.host.numbers["heads"], 2);
  EXPECT_EQ(run.host.numbers["tokens_per_step"], 32);
  const double scores = 2.0 * 2 * 2 * 16 * 16;  // layers, batch, heads, tokens by tokens
  EXPECT_EQ(run.host.numbers["attention_scores_flops"], 2 * 32 * scores);
  EXPECT_EQ(run.host.numbers["attention_softmax_flops"], 5 * scores);
  EXPECT_EQ(run.host.numbers["attention_values_flops"], 2 * 32 * scores);
  EXPECT_NEAR(run.host.numbers["attention_flops_share"] * run.host.work["forward"].first, 4 * 32 * scores, 1e-3);
  EXPECT_EQ(run.host.work.count("replay"), 0u);
  EXPECT_EQ(run.host.work["backward"].first, 2 * run.host.work["forward"].first);
  EXPECT_EQ(run.host.work["optimizer"].second, 7 * 4 * parameters);
  EXPECT_EQ(run.host.tagged_bytes[KYMO_PARAMETER], 4 * static_cast<std::uint64_t>(parameters));
  EXPECT_GE(run.host.tagged_bytes[KYMO_OPTIMIZER_STATE], 8 * static_cast<std::uint64_t>(parameters));
  EXPECT_EQ(run.host.tagged_bytes[KYMO_GRADIENT], 3 * 4 * static_cast<std::uint64_t>(parameters));
  run.destroy();
  EXPECT_NEAR(run.host.numbers["loss_first"], std::log(50.0), 1.0);
  EXPECT_NEAR(run.host.numbers["loss_last"], std::log(50.0), 1.0);
}

TEST(TransformerLm, EveryPartOfAStepHasAScope) {
  Driven run("transformer_lm", with(kSmallModel, {{"layers", std::int64_t{1}}}));
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_TRUE(run.host.scopes.empty());
  ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  EXPECT_THAT(run.host.scopes,
              ElementsAre("embedding", "block_0", "norm", "attention", "projection", "rotation", "scores", "softmax",
                          "values", "output", "norm", "feed_forward", "norm", "head", "loss", "adamw"));
  EXPECT_EQ(run.host.open_scopes, 0);
}

TEST(TransformerLm, SkipsGraphsOnTheCpu) {
  Driven run("transformer_lm", with(kSmallModel, {{"execution", "graph"}}));
  EXPECT_EQ(run.prepare(), KYMO_SKIPPED);
  EXPECT_THAT(run.host.message, HasSubstr("execution=graph requires device=cuda"));
}

TEST(TransformerLm, MakesThePhasesOfItsMode) {
  Driven forward("transformer_lm", with(kSmallModel, {{"mode", "forward"}}));
  ASSERT_EQ(forward.prepare(), KYMO_OK) << forward.host.message;
  ASSERT_EQ(forward.step(), KYMO_OK) << forward.host.message;
  EXPECT_THAT(forward.host.phases, ElementsAre("forward"));
  EXPECT_EQ(forward.host.work.count("backward"), 0u);
  EXPECT_EQ(forward.host.tagged_bytes.count(KYMO_OPTIMIZER_STATE), 0u);
  EXPECT_THAT(forward.passed_checks(), Not(Contains("AdamW")));
}

TEST(TransformerLm, SingleDimensionsWinOverTheSize) {
  Driven run("transformer_lm", with(kSmallModel, {{"layers", std::int64_t{1}}, {"d_ff", std::int64_t{32}}}));
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_EQ(run.host.numbers["parameters"], 2 * 50 * 64 + (4 * 64 * 64 + 3 * 64 * 32 + 2 * 64) + 64);
  EXPECT_EQ(run.host.numbers["layers"], 1);
  EXPECT_EQ(run.host.numbers["d_ff"], 32);
}

TEST(TransformerLm, RejectsImpossibleSettings) {
  Driven uneven("transformer_lm", with(kSmallModel, {{"heads", std::int64_t{5}}}));
  EXPECT_EQ(uneven.prepare(), KYMO_FAILED);
  EXPECT_THAT(uneven.host.message, HasSubstr("d_model 64 is not divisible by heads 5"));
  Driven custom("transformer_lm", with(kSmallModel, {{"size", "custom"}, {"d_model", std::int64_t{32}}}));
  EXPECT_EQ(custom.prepare(), KYMO_FAILED);
  EXPECT_THAT(custom.host.message, HasSubstr("d_ff is 0; size=custom needs"));
  Driven odd("transformer_lm", with(kSmallModel, {{"d_model", std::int64_t{6}}}));
  EXPECT_EQ(odd.prepare(), KYMO_FAILED);
  EXPECT_THAT(odd.host.message, HasSubstr("must be even"));
  Driven twice("transformer_lm", with(kSmallModel, {{"autocast", true}, {"dtype", "bf16"}}));
  EXPECT_EQ(twice.prepare(), KYMO_SKIPPED);
  EXPECT_THAT(twice.host.message, HasSubstr("autocast requires fp32 weights"));
}

struct Precision {
  std::string dtype;
  bool autocast;
  std::string attention;
};

class TransformerLmVerifies : public testing::TestWithParam<Precision> {};

TEST_P(TransformerLmVerifies, AgainstTheReference) {
  Driven run("transformer_lm", with(kSmallModel, {{"dtype", GetParam().dtype},
                                                  {"autocast", GetParam().autocast},
                                                  {"attention", GetParam().attention}}));
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_THAT(run.passed_checks(), ElementsAre("logits", "loss", "gradients", "AdamW"));
}

TEST(TransformerLm, VerifiesLossesOfCheckpointsInBf16) {
  const std::map<std::string, FakeHost::Value> selective =
      with(kSmallModel, {{"checkpoint", "selective"}, {"checkpoint_feed_forward", std::int64_t{1}}});
  Driven exact("transformer_lm", selective);
  ASSERT_EQ(exact.prepare(), KYMO_OK) << exact.host.message;
  EXPECT_THAT(exact.passed_checks(), ElementsAre("logits", "loss", "gradients", "AdamW"));
  Driven rounded("transformer_lm", with(selective, {{"dtype", "bf16"}}));
  ASSERT_EQ(rounded.prepare(), KYMO_OK) << rounded.host.message;
  EXPECT_THAT(rounded.passed_checks(), ElementsAre("logits", "loss", "gradients", "AdamW", "losses of 20 steps"));
  Driven without("transformer_lm", with(selective, {{"checkpoint", "blocks"}}));
  EXPECT_EQ(without.prepare(), KYMO_SKIPPED);
  EXPECT_THAT(without.host.message, HasSubstr("checkpoint_feed_forward requires checkpoint=selective"));
}

INSTANTIATE_TEST_SUITE_P(Precisions, TransformerLmVerifies,
                         testing::Values(Precision{"fp32", false, "naive"}, Precision{"fp32", false, "sdpa"},
                                         Precision{"fp32", true, "naive"}, Precision{"fp32", true, "sdpa"},
                                         Precision{"bf16", false, "naive"}, Precision{"bf16", false, "sdpa"},
                                         Precision{"fp16", false, "naive"}, Precision{"fp16", false, "sdpa"}),
                         [](const auto& made) {
                           return made.param.dtype + (made.param.autocast ? "_autocast_" : "_") + made.param.attention;
                         });

class AttentionPlugin : public testing::TestWithParam<std::string> {};

TEST_P(AttentionPlugin, StepsAndVerifiesInEveryType) {
  for (const char* dtype : {"fp32", "bf16", "fp16"})
    for (const bool causal : {true, false}) {
      Driven run(GetParam(), {{"dtype", dtype},
                              {"causal", causal},
                              {"seq", std::int64_t{96}},
                              {"heads", std::int64_t{2}},
                              {"head_dim", std::int64_t{32}}});
      ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
      ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
      ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
      EXPECT_THAT(run.host.phases, ElementsAre("forward", "backward", "forward", "backward"));
      EXPECT_THAT(run.passed_checks(), ElementsAre("output", "query gradient", "key gradient", "value gradient"))
          << dtype << causal;
    }
}

TEST_P(AttentionPlugin, ForwardAloneAndItsWork) {
  Driven run(GetParam(), {{"mode", "forward"},
                          {"batch", std::int64_t{2}},
                          {"seq", std::int64_t{64}},
                          {"head_dim", std::int64_t{16}},
                          {"causal", false}});
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  EXPECT_THAT(run.host.phases, ElementsAre("forward"));
  EXPECT_EQ(run.host.work["forward"].first, 4.0 * 2 * 64 * 64 * 16);
  const double tensors = 4.0 * 2 * 64 * 16 * 4, scores = 2.0 * 64 * 64 * 4;
  EXPECT_EQ(run.host.work["forward"].second, GetParam() == "attention_naive" ? tensors + 4 * scores : tensors);
  EXPECT_EQ(run.host.work.count("backward"), 0u);
  EXPECT_THAT(run.passed_checks(), ElementsAre("output"));
}

TEST_P(AttentionPlugin, BackwardAloneRepeatsTheGradientOfOneForwardPass) {
  Driven run(
      GetParam(),
      {{"mode", "backward"}, {"batch", std::int64_t{1}}, {"seq", std::int64_t{64}}, {"head_dim", std::int64_t{16}}});
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  EXPECT_THAT(run.host.phases, ElementsAre("backward", "backward"));
  EXPECT_EQ(run.host.work.count("forward"), 0u);
  EXPECT_EQ(run.host.work["backward"].first, 2.5 * 2 * 64 * 64 * 16);
  EXPECT_EQ(run.host.tagged_bytes[KYMO_GRADIENT], 2 * 3 * 64 * 16 * 4u) << "each step makes gradients of its own";
  EXPECT_THAT(run.passed_checks(), ElementsAre("output", "query gradient", "key gradient", "value gradient"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, AttentionPlugin, testing::Values("attention_naive", "attention_sdpa"),
                         [](const auto& made) { return made.param; });

TEST(AttentionNaive, NamesItsPartsAndCountsHalfIfCausal) {
  Driven run("attention_naive",
             {{"seq", std::int64_t{32}}, {"head_dim", std::int64_t{16}}, {"batch", std::int64_t{1}}});
  ASSERT_EQ(run.prepare(), KYMO_OK);
  ASSERT_EQ(run.step(), KYMO_OK);
  EXPECT_THAT(run.host.scopes, ElementsAre("scores", "softmax", "values"));
  EXPECT_EQ(run.host.work["forward"].first, 2.0 * 32 * 32 * 16);
  EXPECT_EQ(run.host.work["backward"].first, 5.0 * 32 * 32 * 16);
  EXPECT_EQ(run.host.numbers["attention_scores_flops"] + run.host.numbers["attention_values_flops"],
            run.host.work["forward"].first);
  EXPECT_EQ(run.host.numbers["attention_softmax_flops"], 5 * 0.5 * 32 * 32);
}

TEST(AttentionNaive, TagsInputsAndGradients) {
  const std::map<std::string, FakeHost::Value> shape{
      {"seq", std::int64_t{32}}, {"head_dim", std::int64_t{16}}, {"batch", std::int64_t{1}}};
  const std::uint64_t tensor_bytes = 32 * 16 * 4;
  Driven run("attention_naive", shape);
  ASSERT_EQ(run.prepare(), KYMO_OK);
  EXPECT_EQ(run.host.tagged_bytes[KYMO_INPUT], 4 * tensor_bytes) << "query, key, value and the gradient of the output";
  ASSERT_EQ(run.step(), KYMO_OK);
  EXPECT_EQ(run.host.tagged_bytes[KYMO_GRADIENT], 3 * tensor_bytes);
  Driven forward("attention_naive", with(shape, {{"mode", "forward"}}));
  ASSERT_EQ(forward.prepare(), KYMO_OK);
  ASSERT_EQ(forward.step(), KYMO_OK);
  EXPECT_EQ(forward.host.tagged_bytes.count(KYMO_GRADIENT), 0u);
}

TEST(AttentionNaive, SaysThatMemoryRanOut) {
  Driven run("attention_naive",
             {{"seq", std::int64_t{1} << 21}, {"head_dim", std::int64_t{2}}, {"batch", std::int64_t{1}}});
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_EQ(run.step(), KYMO_OUT_OF_MEMORY) << run.host.message;
  EXPECT_THAT(run.host.message, HasSubstr("allocate"));
}

TEST(AttentionSdpa, SkipsBackendsThatAreNotHere) {
  for (const char* backend : {"cudnn", "efficient"}) {
    Driven run("attention_sdpa", {{"backend", backend}});
    EXPECT_EQ(run.prepare(), KYMO_SKIPPED) << backend;
    EXPECT_THAT(run.host.message, HasSubstr(std::string("no ") + backend + " attention for fp32"));
    EXPECT_THAT(run.host.message, HasSubstr("on cpu"));
  }
}

TEST(AttentionSdpa, UsesTheBackendThatWasAskedFor) {
  for (const char* backend : {"math", "flash"}) {
    Driven run("attention_sdpa", {{"backend", backend}, {"seq", std::int64_t{64}}});
    ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    EXPECT_EQ(run.host.texts["backend"], backend);
    EXPECT_EQ(run.passed_checks().size(), 4u);
  }
}

}  // namespace
