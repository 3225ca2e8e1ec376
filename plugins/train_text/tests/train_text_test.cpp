// SPDX-License-Identifier: Apache-2.0
// Calls the built plugin through its C table, as a worker does, on the CPU.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>

#include "sources.hpp"
#include "unit/plugins/driven.hpp"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

using Values = std::map<std::string, FakeHost::Value>;

/// A small model and text.
class TrainText : public testing::Test {
 protected:
  TrainText() {
    std::string words;
    for (int i = 0; i < 400; ++i) words += "def f" + std::to_string(i % 7) + "(x):\n    return x\n";
    sources_.write("a.py", words);
  }

  Values with(const Values& more) const {
    Values all{{"context", std::int64_t{16}},      {"batch", std::int64_t{4}},
               {"text", sources_.folder.string()}, {"learning_rate", 1e-2},
               {"lr_warmup", std::int64_t{2}},     {"target_loss", 0.0},
               {"validate_every", std::int64_t{2}}};
    for (const auto& [key, value] : more) all[key] = value;
    return all;
  }
  static void train(Driven& run, int steps) {
    run.host.record_times_only();
    ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    for (int i = 0; i < steps; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  }
  /// The loss on held-out text after five steps.
  double trained_loss(const Values& more) const {
    Driven run("train_text", with(more));
    train(run, 5);
    run.destroy();
    EXPECT_THAT(run.host.message, IsEmpty());
    return run.host.numbers.at("validation_loss");
  }

  Sources sources_;
};

TEST_F(TrainText, TrainsInPhasesAndReports) {
  Driven run("train_text", with({}));
  train(run, 1);
  EXPECT_THAT(run.host.phases, ElementsAre("data", "forward", "backward", "optimizer"));
  const double first = run.host.numbers.at("loss");
  EXPECT_NEAR(first, std::log(256.0), 1.5);
  for (int i = 0; i < 30; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  EXPECT_LT(run.host.numbers.at("loss"), first / 2) << "the steps do not continue the training";
  EXPECT_EQ(run.host.numbers.at("text_files"), 1);
  EXPECT_EQ(run.host.texts.at("text_sha256").size(), 64u);
  EXPECT_EQ(run.host.numbers.at("tokens_per_step"), 64);
  run.destroy();
  EXPECT_LT(run.host.numbers.at("validation_loss"), first / 2);
  EXPECT_EQ(run.host.numbers.count("steps_to_target"), 0u);
  EXPECT_THAT(run.host.message, IsEmpty());
}

TEST_F(TrainText, FailsIfItMissesTheTarget) {
  Driven run("train_text", with({{"target_loss", 0.001}}));
  train(run, 3);
  EXPECT_THAT(run.host.message, IsEmpty());
  run.destroy();
  char loss[32];
  std::snprintf(loss, sizeof loss, "%.4f", run.host.numbers.at("validation_loss"));
  EXPECT_EQ(run.host.message, "the training missed its target: after 3 steps, the loss on held-out text is " +
                                  std::string(loss) + " nat; target_loss is 0.0010 nat");
  EXPECT_EQ(run.host.numbers.count("steps_to_target"), 0u);
}

TEST_F(TrainText, ReportsAfterHowManyStepsItReachedTheTarget) {
  Driven run("train_text", with({{"target_loss", 100.0}}));
  train(run, 5);
  run.destroy();
  EXPECT_EQ(run.host.numbers.at("steps_to_target"), 2) << "validated every second step";
  EXPECT_THAT(run.host.message, IsEmpty());
}

TEST_F(TrainText, NeedsNoTargetInPassesThatRunFewSteps) {
  Driven run("train_text", with({{"target_loss", 0.001}}));
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  EXPECT_GT(run.host.tagged_bytes[KYMO_OPTIMIZER_STATE], 0u) << "of LibTorch's AdamW";
  run.destroy();
  EXPECT_THAT(run.host.message, IsEmpty());
  EXPECT_EQ(run.host.numbers.count("validation_loss"), 0u);
}

TEST_F(TrainText, EqualImplementationsReachEqualLosses) {
  const double plain = trained_loss({});
  EXPECT_DOUBLE_EQ(trained_loss({}), plain);
  EXPECT_DOUBLE_EQ(trained_loss({{"prefetch", true}}), plain);
  EXPECT_NEAR(trained_loss({{"optimizer", "fused"}}), plain, 1e-4);
  EXPECT_NEAR(trained_loss({{"attention", "sdpa"}}), plain, 1e-4);
  EXPECT_NEAR(trained_loss({{"autocast", true}}), plain, 0.05);
  EXPECT_GT(std::abs(trained_loss({{"learning_rate", 1e-3}}) - plain), 1e-2) << "the comparison is too weak";
}

TEST_F(TrainText, FusedOperatorsReachTheLossesOfTheLibrary) {
  const Values fused{{"optimizer", "fused"}, {"operators", "fused"}};
  const auto also = [&](Values more) {
    more.insert(fused.begin(), fused.end());
    return more;
  };
  const double plain = trained_loss({});
  EXPECT_NEAR(trained_loss(fused), plain, 1e-4);
  EXPECT_NEAR(trained_loss({{"operators", "fused"}}), plain, 1e-4) << "with LibTorch's AdamW";
  EXPECT_NEAR(trained_loss(also({{"autocast", true}})), plain, 0.05);
  EXPECT_NEAR(trained_loss(also({{"dtype", "bf16"}, {"optimizer_state", "master_weights"}})), plain, 0.05);
  EXPECT_NEAR(trained_loss({{"dtype", "bf16"}}), plain, 0.2);
}

TEST_F(TrainText, HoldsMasterWeightsUnderAutocast) {
  std::map<std::string, std::uint64_t> parameters, state;
  for (const char* operators : {"fused", "fused_except_master_weights"}) {
    Driven run("train_text", with({{"optimizer", "fused"}, {"operators", operators}, {"autocast", true}}));
    ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    parameters[operators] = run.host.tagged_bytes[KYMO_PARAMETER];
    state[operators] = run.host.tagged_bytes[KYMO_OPTIMIZER_STATE];
    EXPECT_THAT(run.passed_checks(), IsSupersetOf({"logits", "loss", "gradients", "AdamW"}));
  }
  // Weights of products are bf16, and the optimizer has their fp32 values.
  const std::uint64_t saved = parameters["fused_except_master_weights"] - parameters["fused"];
  EXPECT_EQ(state["fused"] - state["fused_except_master_weights"], 2 * saved);
  EXPECT_GT(saved, parameters["fused"] / 2);
}

TEST_F(TrainText, SkipsOptimizerStatesWithoutEffect) {
  const auto expect_skipped = [&](const Values& values, const char* message) {
    Driven run("train_text", with(values));
    EXPECT_EQ(run.prepare(), KYMO_SKIPPED);
    EXPECT_THAT(run.host.message, HasSubstr(message));
  };
  expect_skipped({{"optimizer_state", "fp32"}}, "optimizer_state=fp32 requires dtype=bf16 or fp16");
  expect_skipped({{"optimizer_state", "fp32"}, {"dtype", "bf16"}}, "requires kymo's AdamW: operators=fused");
  expect_skipped({{"optimizer_state", "master_weights"}, {"dtype", "bf16"}, {"operators", "fused"}},
                 "optimizer_state=master_weights requires kymo's AdamW: it has no effect with optimizer=plain");
  expect_skipped({{"autocast", true}, {"dtype", "bf16"}}, "autocast requires fp32 weights");
}

TEST_F(TrainText, ComparesItsPartsWithTheReference) {
  for (const char* optimizer : {"plain", "fused"}) {
    Driven run("train_text", with({{"optimizer", optimizer}}));
    ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    EXPECT_THAT(run.passed_checks(), ElementsAre("logits", "loss", "gradients", "AdamW"));
  }
}

TEST_F(TrainText, RejectsWhatItCannotTrainOn) {
  Driven missing("train_text", with({{"text", "/nonexistent"}}));
  EXPECT_EQ(missing.prepare(), KYMO_FAILED);
  EXPECT_THAT(missing.host.message, HasSubstr("/nonexistent is not a folder"));
  Driven brief("train_text", with({{"text_bytes", std::int64_t{200}}}));
  EXPECT_EQ(brief.prepare(), KYMO_FAILED);
  EXPECT_THAT(brief.host.message,
              HasSubstr("the held-out part of the text has 10 bytes; context=16 needs at least 17"));
}

TEST_F(TrainText, SkipsGraphsThatItCannotCapture) {
  Driven plain("train_text", with({{"execution", "graph"}}));
  EXPECT_EQ(plain.prepare(), KYMO_SKIPPED);
  EXPECT_THAT(plain.host.message, HasSubstr("requires optimizer=fused"));
  Driven on_cpu("train_text", with({{"execution", "graph"}, {"optimizer", "fused"}}));
  EXPECT_EQ(on_cpu.prepare(), KYMO_SKIPPED);
  EXPECT_THAT(on_cpu.host.message, HasSubstr("requires device=cuda"));
}

}  // namespace
