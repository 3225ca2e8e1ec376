// SPDX-License-Identifier: Apache-2.0
// The LibTorch workloads on a GPU: every type, attention and backend against the float64 references.
#include <c10/cuda/CUDAFunctions.h>
#include <gmock/gmock.h>

#include <cmath>

#include "unit/plugins/driven.hpp"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Changes = std::map<std::string, FakeHost::Value>;

class WorkloadsOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "no GPU";
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
      // In fp16 the squares of small gradients are 0, and Adam's step is then as large as epsilon lets it be: finite is all that holds.
      const double loss = run.host.numbers["loss_last"];
      EXPECT_TRUE(std::isfinite(loss)) << loss;
      if (std::string(dtype) != "fp16") {
        EXPECT_NEAR(loss, std::log(10'000), 1.0);
      }
    }
}

TEST_F(WorkloadsOnGpu, AttentionVerifiesInEveryPrecision) {
  for (const char* workload : {"attention_naive", "attention_sdpa"})
    for (const char* dtype : {"fp32", "bf16", "fp16"})
      for (const std::int64_t head_dim : {16, 64, 128})
        for (const bool causal : {true, false}) {
          SCOPED_TRACE(std::string(workload) + " " + dtype + " " + std::to_string(head_dim) + (causal ? " causal" : ""));
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
  EXPECT_EQ(narrow.prepare(), KYMO_SKIPPED) << "flash attention takes no fp32";
  Driven flash("attention_sdpa", {{"dtype", "bf16"}, {"backend", "flash"}}, KYMO_CUDA);
  EXPECT_EQ(flash.prepare(), KYMO_OK) << flash.host.message;
}

TEST_F(WorkloadsOnGpu, SayThatMemoryRanOut) {
  Driven run("attention_naive", {{"seq", std::int64_t{1} << 20}, {"head_dim", std::int64_t{2}}, {"batch", std::int64_t{1}}}, KYMO_CUDA);
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_EQ(run.step(), KYMO_OUT_OF_MEMORY);
  EXPECT_THAT(run.host.message, HasSubstr("CUDA out of memory"));
}

}  // namespace
