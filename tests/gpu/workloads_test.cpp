// SPDX-License-Identifier: Apache-2.0
// The LibTorch workloads on a GPU: every dtype, attention and backend against float64 references.
#include <c10/cuda/CUDAFunctions.h>
#include <gmock/gmock.h>

#include <cmath>

#include "gpu/machine.hpp"
#include "unit/plugins/driven.hpp"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Changes = std::map<std::string, FakeHost::Value>;

class WorkloadsOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!kymo::machine::has_gpu()) GTEST_SKIP() << "no GPU";
    ASSERT_GT(c10::cuda::device_count(), 0);
  }
};

TEST_F(WorkloadsOnGpu, TransformerTrainsAndVerifiesInEveryPrecision) {
  for (const char* attention : {"naive", "sdpa"})
    for (const auto& [dtype, autocast] : {std::pair{"fp32", false}, {"fp32", true}, {"bf16", false}, {"fp16", false}}) {
      SCOPED_TRACE(std::string(attention) + " " + dtype + (autocast ? " autocast" : ""));
      Driven run("transformer_lm", {{"attention", attention}, {"dtype", dtype}, {"autocast", autocast}}, KYMO_CUDA);
      ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
      for (int i = 0; i < 3; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
      EXPECT_EQ(run.host.phases.size(), 9u);
      EXPECT_THAT(run.passed_checks(), ElementsAre("logits", "loss", "gradients", "AdamW"));
      run.destroy();
      // In fp16 the squares of small gradients underflow to 0, and epsilon alone limits Adam's step, so only check for
      // finite values.
      const double dropped = run.host.numbers["loss_last"];
      EXPECT_TRUE(std::isfinite(dropped)) << dropped;
      if (std::string(dtype) != "fp16") {
        EXPECT_NEAR(dropped, std::log(10'000), 1.0);
      }
    }
}

TEST_F(WorkloadsOnGpu, TransformerTrainsWithFusedOperators) {
  for (const char* operators : {"fused", "fused_except_norm", "fused_except_swiglu", "fused_except_rotary",
                                "fused_except_loss", "fused_except_optimizer", "fused_except_master_weights"})
    for (const auto& [dtype, autocast] : {std::pair{"fp32", false}, {"fp32", true}, {"bf16", false}, {"fp16", false}})
      for (const char* execution : {"eager", "graph"}) {
        SCOPED_TRACE(std::string(operators) + " " + execution + " " + dtype + (autocast ? " autocast" : ""));
        Driven run("transformer_lm",
                   {{"attention", "sdpa"},
                    {"dtype", dtype},
                    {"autocast", autocast},
                    {"operators", operators},
                    {"execution", execution}},
                   KYMO_CUDA);
        ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
        for (int i = 0; i < 3; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
        const std::vector<std::string> checks = run.passed_checks();
        const std::string except = std::string(operators).substr(std::string("fused").size());
        const bool has_masters = autocast && except != "_except_optimizer" && except != "_except_master_weights";
        EXPECT_EQ(checks.size(), (execution == std::string("graph") ? 6u : 4u) + (has_masters ? 1u : 0u));
        run.destroy();
        EXPECT_TRUE(std::isfinite(run.host.numbers["loss_last"]));
      }
}

/// Losses of the first and the last of `steps` steps, and the phases and scopes that the host recorded.
struct Trained {
  double first = 0, last = 0;
  std::vector<std::string> phases, scopes;
  std::map<std::uint32_t, std::uint64_t> tagged_bytes;
};

Trained train(Changes changes, const char* execution, int steps) {
  changes["execution"] = execution;
  changes["vocab_size"] =
      std::int64_t{50};  // a small vocabulary: one update changes the loss of the next batch in the third decimal
  Driven run("transformer_lm", changes, KYMO_CUDA);
  EXPECT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_TRUE(run.host.phases.empty() && run.host.scopes.empty()) << "warm-up must not be recorded";
  for (int i = 0; i < steps; ++i) EXPECT_EQ(run.step(), KYMO_OK) << run.host.message;
  Trained seen{0, 0, run.host.phases, run.host.scopes, run.host.tagged_bytes};
  run.destroy();
  seen.first = run.host.numbers["loss_first"];
  seen.last = run.host.numbers["loss_last"];
  return seen;
}

TEST_F(WorkloadsOnGpu, TheFirstStepOfAGraphCapturesAndIsOneStep) {
  const Trained eager = train({}, "eager", 1), graph = train({}, "graph", 1);
  EXPECT_NEAR(graph.first, eager.first, 1e-4);
  EXPECT_THAT(graph.phases, ElementsAre("forward", "backward", "optimizer", "replay"));
  EXPECT_EQ(graph.scopes, eager.scopes);
  EXPECT_EQ(graph.tagged_bytes, eager.tagged_bytes);
  // A missing or additional update in step 0 would change the loss of step 1.
  const double next = train({}, "eager", 2).last;
  EXPECT_NEAR(train({}, "graph", 2).last, next, 1e-4);
  EXPECT_GT(std::abs(train({{"mode", "forward_backward"}}, "eager", 2).last - next), 1e-3);
}

TEST_F(WorkloadsOnGpu, ReplaysEqualEagerSteps) {
  constexpr int kSteps = 6;
  // 4 × 1024 tokens: from 3073 tokens on, LibTorch computes embedding gradients with another algorithm.
  for (const Changes& changes : std::vector<Changes>{{},
                                                     {{"mode", "forward"}},
                                                     {{"mode", "forward_backward"}},
                                                     {{"attention", "sdpa"}},
                                                     {{"attention", "sdpa"}, {"dtype", "bf16"}},
                                                     {{"autocast", true}},
                                                     {{"autocast", true}, {"operators", "fused"}},
                                                     {{"context", std::int64_t{1024}}}}) {
    std::string named;
    for (const auto& [name, value] : changes)
      named += name + (std::holds_alternative<std::string>(value) ? "=" + std::get<std::string>(value) + " " : " ");
    SCOPED_TRACE(named);
    const Trained eager = train(changes, "eager", kSteps), graph = train(changes, "graph", kSteps);
    // The resolution of a bf16 loss near 4 is 0.03; under autocast the loss is fp32.
    const double tolerance = changes.count("dtype") > 0 ? 5e-2 : changes.count("autocast") > 0 ? 1e-2 : 1e-4;
    EXPECT_NEAR(graph.first, eager.first, tolerance);
    EXPECT_NEAR(graph.last, eager.last, tolerance);
    EXPECT_EQ(graph.phases.size(), eager.phases.size() / kSteps + kSteps) << "one capture, then only replays";
    EXPECT_EQ(graph.phases.back(), "replay");
  }
}

TEST_F(WorkloadsOnGpu, MasterWeightsTrainLikeCasts) {
  for (const char* execution : {"eager", "graph"}) {
    SCOPED_TRACE(execution);
    Changes changes{{"autocast", true}, {"attention", "sdpa"}, {"operators", "fused_except_master_weights"}};
    const Trained cast = train(changes, execution, 6);
    changes["operators"] = "fused";
    const Trained held = train(changes, execution, 6);
    EXPECT_FLOAT_EQ(static_cast<float>(held.first), static_cast<float>(cast.first)) << "the same products";
    EXPECT_NEAR(held.last, cast.last, 1e-2);
    EXPECT_LT(held.tagged_bytes.at(KYMO_PARAMETER), cast.tagged_bytes.at(KYMO_PARAMETER));
    EXPECT_GT(held.tagged_bytes.at(KYMO_OPTIMIZER_STATE), cast.tagged_bytes.at(KYMO_OPTIMIZER_STATE));
  }
  // A replay that reads weights or gradients at other addresses than the update writes would not learn.
  const Changes changes{{"autocast", true}, {"operators", "fused"}};
  EXPECT_NEAR(train(changes, "graph", 2).last, train(changes, "eager", 2).last, 1e-3);
}

TEST_F(WorkloadsOnGpu, FollowsTheOptimizerStateInAGraph) {
  for (const char* state : {"fp32", "master_weights"}) {
    SCOPED_TRACE(state);
    Driven run("transformer_lm",
               {{"dtype", "bf16"}, {"optimizer_state", state}, {"operators", "fused"}, {"execution", "graph"}},
               KYMO_CUDA);
    ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    for (int i = 0; i < 3; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
    EXPECT_EQ(run.passed_checks().size(), state == std::string("fp32") ? 6u : 7u);
  }
}

TEST_F(WorkloadsOnGpu, AGraphVerifiesAgainstEagerSteps) {
  for (const char* attention : {"naive", "sdpa"})
    for (const char* dtype : {"fp32", "bf16", "fp16"}) {
      SCOPED_TRACE(std::string(attention) + " " + dtype);
      Driven run("transformer_lm", {{"attention", attention}, {"dtype", dtype}, {"execution", "graph"}}, KYMO_CUDA);
      ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
      EXPECT_THAT(run.passed_checks(),
                  ElementsAre("logits", "loss", "gradients", "AdamW", "graph losses", "graph gradients"));
    }
  Driven forward("transformer_lm", {{"mode", "forward"}, {"execution", "graph"}}, KYMO_CUDA);
  ASSERT_EQ(forward.prepare(), KYMO_OK) << forward.host.message;
  EXPECT_THAT(forward.passed_checks(), ElementsAre("logits", "loss", "gradients", "graph losses"));
  EXPECT_GT(forward.host.work["forward"].first, 0);
}

TEST_F(WorkloadsOnGpu, StepsWithCollectivesAreReplayed) {
  const std::vector<std::pair<const char*, Changes>> cases{{"ddp_bucketed", {}},
                                                           {"ddp_bucketed", {{"gradients", "views"}}},
                                                           {"sharded_optimizer", {{"scheme", "broadcast"}}},
                                                           {"sharded_optimizer", {{"scheme", "zero1"}}},
                                                           {"fsdp", {{"dtype", "bf16"}, {"operators", "fused"}}}};
  for (auto [workload, changes] : cases) {
    SCOPED_TRACE(workload);
    changes["context"] = std::int64_t{32};
    std::vector<double> losses;
    for (const char* execution : {"eager", "graph"}) {
      changes["execution"] = execution;
      Driven run(workload, changes, KYMO_CUDA);
      ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
      for (int i = 0; i < 4; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
      EXPECT_EQ(run.host.phases.back(), execution == std::string("graph") ? "replay" : "optimizer");
      run.destroy();
      losses.push_back(run.host.numbers["loss_last"]);
    }
    EXPECT_NEAR(losses[1], losses[0], 1e-2);
    Driven verified(workload, changes, KYMO_CUDA);
    ASSERT_EQ(verified.prepare(), KYMO_OK) << verified.host.message;
    EXPECT_FALSE(verified.passed_checks().empty());
  }
}

TEST_F(WorkloadsOnGpu, AttentionVerifiesInEveryPrecision) {
  for (const char* workload : {"attention_naive", "attention_sdpa"})
    for (const char* dtype : {"fp32", "bf16", "fp16"})
      for (const std::int64_t head_dim : {16, 64, 128})
        for (const bool causal : {true, false}) {
          SCOPED_TRACE(std::string(workload) + " " + dtype + " " + std::to_string(head_dim) +
                       (causal ? " causal" : ""));
          Driven run(workload, {{"dtype", dtype}, {"head_dim", head_dim}, {"causal", causal}}, KYMO_CUDA);
          ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
          ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
          EXPECT_EQ(run.passed_checks().size(), 4u);
        }
}

TEST_F(WorkloadsOnGpu, EveryBackendVerifiesOrIsSkippedWithAReason) {
  for (const char* dtype : {"fp32", "bf16"})
    for (const char* backend : {"auto", "cudnn", "flash", "efficient", "math"}) {
      SCOPED_TRACE(std::string(dtype) + " " + backend);
      Driven run("attention_sdpa", {{"dtype", dtype}, {"backend", backend}}, KYMO_CUDA);
      const kymo_status status = run.prepare();
      if (status == KYMO_SKIPPED) {
        EXPECT_THAT(run.host.message, HasSubstr(std::string("no ") + backend + " attention for " + dtype));
        continue;
      }
      ASSERT_EQ(status, KYMO_OK) << run.host.message;
      EXPECT_EQ(run.passed_checks().size(), 4u);
    }
  Driven narrow("attention_sdpa", {{"dtype", "fp32"}, {"backend", "flash"}}, KYMO_CUDA);
  EXPECT_EQ(narrow.prepare(), KYMO_SKIPPED) << "flash attention does not support fp32";
  Driven flash("attention_sdpa", {{"dtype", "bf16"}, {"backend", "flash"}}, KYMO_CUDA);
  EXPECT_EQ(flash.prepare(), KYMO_OK) << flash.host.message;
}

TEST_F(WorkloadsOnGpu, AttentionSaysWhatIsInMemoryBeforeBackwardAndRepeatsBackwardAlone) {
  const Changes shape{{"seq", std::int64_t{4096}}, {"head_dim", std::int64_t{64}}, {"batch", std::int64_t{2}}};
  const double tensor_bytes = 2 * 4096 * 64 * 4, weight_bytes = 2.0 * 4096 * 4096 * 4;
  Driven run("attention_naive", shape, KYMO_CUDA);
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(run.step(), KYMO_OK) << run.host.message;
  // Query, key, value, the output and its gradient, the mask, and the weights, but not the scores. cuBLAS holds some
  // additional memory.
  EXPECT_GE(run.host.numbers["memory_before_backward"], 5 * tensor_bytes + 1.5 * weight_bytes);
  EXPECT_LT(run.host.numbers["memory_before_backward"], 5 * tensor_bytes + 2.5 * weight_bytes);
  run.destroy();
  Changes alone = shape;
  alone["mode"] = "backward";
  Driven backward("attention_naive", alone, KYMO_CUDA);
  ASSERT_EQ(backward.prepare(), KYMO_OK) << backward.host.message;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(backward.step(), KYMO_OK) << backward.host.message;
  EXPECT_THAT(backward.host.phases, ElementsAre("backward", "backward", "backward"));
  EXPECT_EQ(backward.host.numbers.count("memory_before_backward"), 0u);
}

TEST_F(WorkloadsOnGpu, SayThatMemoryRanOut) {
  Driven run("attention_naive",
             {{"seq", std::int64_t{1} << 20}, {"head_dim", std::int64_t{2}}, {"batch", std::int64_t{1}}}, KYMO_CUDA);
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_EQ(run.step(), KYMO_OUT_OF_MEMORY);
  EXPECT_THAT(run.host.message, HasSubstr("CUDA out of memory"));
}

}  // namespace
