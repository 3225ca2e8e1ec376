// SPDX-License-Identifier: Apache-2.0
// Workloads that use the operators, called through their C table as by a worker, on the CPU.
#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "unit/plugins/driven.hpp"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Changes = std::map<std::string, FakeHost::Value>;

Changes small(Changes more = {}) {
  Changes all{{"seq", std::int64_t{200}},
              {"heads", std::int64_t{2}},
              {"batch", std::int64_t{1}},
              {"head_dim", std::int64_t{32}}};
  for (const auto& [name, value] : more) all[name] = value;
  return all;
}

TEST(AttentionFlash, HasTheParametersOfNaiveAndTwoMore) {
  const auto names = [](const char* workload) {
    const kymo_workload& table = *load(workload);
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < table.parameter_count; ++i) {
      EXPECT_STRNE(table.parameters[i].documentation, "");
      all.emplace_back(table.parameters[i].name);
    }
    return all;
  };
  std::vector<std::string> expected = names("attention_naive");
  expected.insert(expected.end(), {"implementation", "deterministic"});
  EXPECT_EQ(names("attention_flash"), expected);
}

TEST(AttentionFlash, StepsAndVerifiesInEveryType) {
  for (const char* dtype : {"fp32", "bf16", "fp16"})
    for (const char* implementation : {"auto", "tiled"})
      for (const bool causal : {true, false}) {
        Driven run("attention_flash",
                   small({{"dtype", dtype}, {"causal", causal}, {"implementation", implementation}}));
        ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
        ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
        EXPECT_THAT(run.host.phases, ElementsAre("forward", "backward"));
        EXPECT_THAT(run.host.scopes, ElementsAre("flash_attention"));
        EXPECT_EQ(run.host.texts["implementation"], "tiled");
        EXPECT_THAT(run.passed_checks(), ElementsAre("output", "query gradient", "key gradient", "value gradient"))
            << dtype << causal;
      }
}

TEST(AttentionFlash, DeclaresWhatEveryAttentionDeclares) {
  for (const bool causal : {true, false}) {
    Driven naive("attention_naive", small({{"causal", causal}})), flash("attention_flash", small({{"causal", causal}}));
    ASSERT_EQ(naive.prepare(), KYMO_OK);
    ASSERT_EQ(flash.prepare(), KYMO_OK);
    const double tensor_bytes = 2 * 200 * 32 * 4;
    for (const auto& [phase, tensors] : {std::pair{"forward", 4}, {"backward", 8}}) {
      EXPECT_GT(flash.host.work[phase].first, 0);
      EXPECT_EQ(flash.host.work[phase].first, naive.host.work[phase].first);
      EXPECT_EQ(flash.host.work[phase].second, tensors * tensor_bytes);
    }
  }
}

TEST(AttentionFlash, SkipsFlashOnTheCpu) {
  Driven run("attention_flash", small({{"implementation", "flash"}}));
  EXPECT_EQ(run.prepare(), KYMO_SKIPPED);
  EXPECT_THAT(run.host.message, HasSubstr("implementation=flash requires CUDA tensors, but q is on cpu"));
}

TEST(AttentionSdpa, LeavesTheSwitchesOfTheProcessAlone) {
  Driven math("attention_sdpa", small({{"backend", "math"}}));
  ASSERT_EQ(math.prepare(), KYMO_OK) << math.host.message;
  Driven automatic("attention_sdpa", small());
  ASSERT_EQ(automatic.prepare(), KYMO_OK);
  EXPECT_EQ(math.host.texts["backend"], "math");
  EXPECT_EQ(automatic.host.texts["backend"], "flash")
      << "LibTorch's choice, although another instance allows math alone";
  for (Driven* run : {&math, &automatic}) {
    ASSERT_EQ(run->step(), KYMO_OK);
    EXPECT_EQ(run->passed_checks().size(), 4u);
  }
}

const Changes kSmallModel{{"context", std::int64_t{16}}, {"batch", std::int64_t{2}}, {"vocab_size", std::int64_t{50}}};

TEST(TransformerLm, TrainsWithEveryAttentionThatRunsHere) {
  for (const char* attention : {"tiled", "sdpa_flash", "sdpa_math"})
    for (const auto& [dtype, autocast] : {std::pair{"fp32", false}, {"fp32", true}, {"bf16", false}}) {
      Changes changes = kSmallModel;
      changes.insert({{"attention", attention}, {"dtype", dtype}, {"autocast", autocast}});
      Driven run("transformer_lm", changes);
      SCOPED_TRACE(std::string(attention) + " " + dtype + (autocast ? " autocast" : ""));
      ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
      ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
      EXPECT_THAT(run.host.scopes, Contains(std::string(attention) == "tiled" ? "flash_attention" : "sdpa"));
      EXPECT_THAT(run.passed_checks(), ElementsAre("logits", "loss", "gradients", "AdamW"));
      run.destroy();
      EXPECT_NEAR(run.host.numbers["loss_last"], std::log(50.0), 1.0);
    }
}

TEST(TransformerLm, TrainsWithFusedOperators) {
  for (const char* operators : {"fused", "fused_except_norm", "fused_except_swiglu", "fused_except_rotary",
                                "fused_except_loss", "fused_except_optimizer", "fused_except_master_weights"})
    for (const auto& [dtype, autocast] : {std::pair{"fp32", false}, {"fp32", true}, {"bf16", false}, {"fp16", false}})
      for (const char* attention : {"naive", "tiled"}) {
        Changes changes = kSmallModel;
        changes.insert({{"attention", attention}, {"dtype", dtype}, {"autocast", autocast}, {"operators", operators}});
        Driven run("transformer_lm", changes);
        SCOPED_TRACE(std::string(operators) + " " + attention + " " + dtype + (autocast ? " autocast" : ""));
        ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
        ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
        std::vector<std::string> checks{"logits", "loss", "gradients", "AdamW"};
        const std::string except = std::string(operators).substr(std::string("fused").size());
        if (autocast && except != "_except_optimizer" && except != "_except_master_weights")
          checks.emplace_back("rounded weights");
        EXPECT_THAT(run.passed_checks(), ElementsAreArray(checks));
        run.destroy();
        EXPECT_NEAR(run.host.numbers["loss_last"], std::log(50.0), 1.0);
      }
}

/// Tagged bytes and reported numbers of a small model after two steps, and its checks.
struct Trained {
  std::map<std::uint32_t, std::uint64_t> tagged;
  std::map<std::string, double> numbers;
  std::vector<std::string> checks;
  double optimizer_bytes = 0;
};

Trained train(const Changes& more) {
  Changes changes = kSmallModel;
  for (const auto& [name, value] : more) changes[name] = value;
  Driven run("transformer_lm", changes);
  EXPECT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run.step(), KYMO_OK) << run.host.message;
  const std::vector<std::string> checks = run.passed_checks();
  run.destroy();
  return {run.host.tagged_bytes, run.host.numbers, checks, run.host.work["optimizer"].second};
}

constexpr std::uint64_t kProducts = 2 * (4 * 64 * 64 + 3 * 64 * 256) + 50 * 64;  // elements of their weights
constexpr std::uint64_t kOthers = 50 * 64 + 5 * 64;                              // embedding and norms
constexpr std::uint64_t kScalars = 4 * 15;                                       // a step count of each parameter

TEST(TransformerLm, HoldsMasterWeightsUnderAutocast) {
  Changes changes{{"autocast", true}, {"operators", "fused"}};
  const Trained held = train(changes);
  changes["operators"] = "fused_except_master_weights";
  const Trained cast = train(changes);
  EXPECT_EQ(held.tagged.at(KYMO_PARAMETER), 2 * kProducts + 4 * kOthers);
  EXPECT_EQ(held.tagged.at(KYMO_GRADIENT), 2 * (2 * kProducts + 4 * kOthers)) << "of two steps";
  EXPECT_EQ(held.tagged.at(KYMO_OPTIMIZER_STATE), 12 * kProducts + 8 * kOthers + kScalars);
  EXPECT_EQ(cast.tagged.at(KYMO_PARAMETER), 4 * (kProducts + kOthers));
  EXPECT_EQ(cast.tagged.at(KYMO_OPTIMIZER_STATE), 8 * (kProducts + kOthers) + kScalars);
  EXPECT_EQ(held.optimizer_bytes, cast.optimizer_bytes);
  EXPECT_EQ(held.numbers.at("loss_first"), cast.numbers.at("loss_first")) << "the same products";
  EXPECT_NEAR(held.numbers.at("loss_last"), cast.numbers.at("loss_last"), 1e-3);
  for (const char* mode : {"forward", "forward_backward"}) {
    const Trained without_update = train({{"autocast", true}, {"operators", "fused"}, {"mode", mode}});
    EXPECT_EQ(without_update.tagged.at(KYMO_PARAMETER), 2 * kProducts + 4 * kOthers);
    EXPECT_EQ(without_update.tagged.count(KYMO_OPTIMIZER_STATE), 0u);
  }
}

TEST(TransformerLm, HoldsTheOptimizerStateThatItIsAskedFor) {
  constexpr std::uint64_t kAll = kProducts + kOthers;
  const struct {
    const char* name;
    std::uint64_t state_bytes, update_bytes;  // per element
  } kinds[] = {{"dtype", 4, 14}, {"fp32", 8, 22}, {"master_weights", 12, 28}};
  for (const char* dtype : {"bf16", "fp16"})
    for (const auto& kind : kinds) {
      SCOPED_TRACE(std::string(dtype) + " " + kind.name);
      const Trained run = train({{"dtype", dtype}, {"operators", "fused"}, {"optimizer_state", kind.name}});
      EXPECT_EQ(run.tagged.at(KYMO_PARAMETER), 2 * kAll);
      EXPECT_EQ(run.tagged.at(KYMO_OPTIMIZER_STATE), kind.state_bytes * kAll + kScalars);
      EXPECT_EQ(run.optimizer_bytes, static_cast<double>(kind.update_bytes * kAll));
      EXPECT_EQ(run.checks.size(), kind.name == std::string("master_weights") ? 5u : 4u);
      EXPECT_NEAR(run.numbers.at("loss_last"), std::log(50.0), 1.0);
    }
}

TEST(TransformerLm, SkipsAnOptimizerStateWithoutEffect) {
  const auto expect = [](const Changes& more, const char* message) {
    Changes changes = kSmallModel;
    for (const auto& [name, value] : more) changes[name] = value;
    Driven run("transformer_lm", changes);
    EXPECT_EQ(run.prepare(), KYMO_SKIPPED);
    EXPECT_THAT(run.host.message, HasSubstr(message));
  };
  expect({{"optimizer_state", "fp32"}, {"operators", "fused"}},
         "optimizer_state=fp32 requires dtype=bf16 or fp16: with fp32 weights, the optimizer state is fp32");
  expect({{"optimizer_state", "master_weights"}, {"operators", "library"}, {"dtype", "bf16"}},
         "optimizer_state=master_weights requires kymo's AdamW: operators=fused");
}

TEST(TransformerLm, DeclaresTheProductsOfAFusedHeadInTheForwardPass) {
  const auto declared = [](const char* operators, const char* mode) {
    Changes changes = kSmallModel;
    changes.insert({{"operators", operators}, {"mode", mode}});
    Driven run("transformer_lm", changes);
    EXPECT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    return std::pair{run.host.work["forward"].first, run.host.work["backward"].first};
  };
  const auto [forward, backward] = declared("fused_except_loss", "train");
  const auto [fused_forward, fused_backward] = declared("fused", "train");
  const double head = 2.0 * 2 * 16 * 64 * 50;  // of 2 sequences of 16 tokens, d_model 64 and 50 classes
  EXPECT_EQ(fused_forward, forward + 2 * head);
  EXPECT_EQ(fused_backward, backward - 2 * head);
  EXPECT_EQ(declared("fused", "forward"), declared("library", "forward"));
}

TEST(TransformerLm, SkipsAnAttentionThatIsNotHere) {
  for (const char* attention : {"flash", "sdpa_cudnn", "sdpa_efficient"}) {
    Changes changes = kSmallModel;
    changes["attention"] = attention;
    Driven run("transformer_lm", changes);
    EXPECT_EQ(run.prepare(), KYMO_SKIPPED) << attention;
    EXPECT_THAT(run.host.message, HasSubstr(std::string("attention=") + attention + " is not supported: "));
  }
}

}  // namespace
