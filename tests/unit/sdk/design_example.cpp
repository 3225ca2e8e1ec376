// SPDX-License-Identifier: Apache-2.0
// The example of the design document, verbatim. LibTorch's tensor is replaced by a stub, so that this compiles
// everywhere.
#include <gtest/gtest.h>

namespace torch {
struct Tensor {
  double value = 0;
  Tensor& add_(const Tensor& other, double factor) {
    value += factor * other.value;
    return *this;
  }
};
}  // namespace torch

// clang-format off
#include <kymo/workload.hpp>

class Saxpy final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"saxpy", "y = a*x + y on one device"}
        .param("n", kymo::Int{1 << 24}.at_least(1), "elements")
        .param("dtype", kymo::Choice{"fp32", {"fp32", "bf16"}}, "element type")
        .phases({"compute"})
        .uses(kymo::Framework::LibTorch);
  }
  void prepare(kymo::Context& ctx) override;   // allocate, initialize, declare work per phase: never timed
  void step(kymo::Context& ctx) override {     // one repetition: timed
    auto phase = ctx.phase("compute");
    y_.add_(x_, 2.0);
  }
  kymo::Verification verify(kymo::Context& ctx) override;   // against a reference: never timed
 private:
  std::int64_t n_ = 0;
  torch::Tensor x_, y_;
};
KYMO_EXPORT_WORKLOADS(Saxpy)
// clang-format on

void Saxpy::prepare(kymo::Context& ctx) {
  n_ = ctx.integer("n");
  x_.value = 1;
}

kymo::Verification Saxpy::verify(kymo::Context&) { return kymo::Verification{}.that(n_ > 0, "n", "0"); }

TEST(DesignExample, ExportsItsTable) {
  const kymo_plugin* plugin = kymo_plugin_v2();
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin, kymo_plugin_v2()) << "the table is made once";
  EXPECT_STREQ(plugin->name, "saxpy");
  EXPECT_STREQ(plugin->framework, "libtorch");
  ASSERT_EQ(plugin->workload_count(), 1u);
  EXPECT_EQ(plugin->workload(1), nullptr);
  const kymo_workload* workload = plugin->workload(0);
  EXPECT_STREQ(workload->name, "saxpy");
  EXPECT_EQ(workload->devices, std::uint32_t{KYMO_CPU | KYMO_CUDA}) << "LibTorch runs on both";
  ASSERT_EQ(workload->parameter_count, 2u);
  EXPECT_EQ(workload->parameters[0].default_value.integer, 1 << 24);
  EXPECT_EQ(workload->parameters[1].choice_count, 2u);
  EXPECT_STREQ(workload->parameters[1].choices[1], "bf16");
  EXPECT_STREQ(workload->phases[0], "compute");
}
