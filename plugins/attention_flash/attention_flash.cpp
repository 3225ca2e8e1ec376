// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 by kymo's own operators: scores are made tile by tile and never kept.
#include <kymo/workload.hpp>

#include "ops/attention.hpp"
#include "transformer/attention_workload.hpp"

namespace {

class AttentionFlash final : public kymo::transformer::AttentionWorkload {
 public:
  static kymo::Descriptor describe() {
    return describe_as("attention_flash",
                       "FlashAttention-2 by the operators of libkymo_ops.so, in CUDA or in tensor operations. "
                       "FLOPs count half if causal and 2.5 times forward for backward; bytes are the inputs and "
                       "outputs, each once")
        .param("implementation", kymo::Choice{"auto", {"auto", "tiled", "flash"}}.axis({"tiled", "flash"}),
               "flash is CUDA, tiled is tensor operations on any device, auto is flash where it runs and else tiled; "
               "the run is skipped where "
               "flash was asked for and does not run")
        .param("deterministic", kymo::Bool{false},
               "gradients are the same to the last bit in every step; tiled always are");
  }

 private:
  std::unique_ptr<kymo::transformer::Attention> make(kymo::Context& ctx, bool causal) override {
    return kymo::transformer::make_operator_attention(ctx.text("implementation"), causal, ctx.boolean("deterministic"));
  }

  void check(kymo::Context& ctx, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
             bool causal) override {
    kymo::ops::AttentionOptions options;
    options.causal = causal;
    options.implementation = ctx.text("implementation");
    options.deterministic = ctx.boolean("deterministic");
    if (options.implementation == "flash") {
      const std::string reason = kymo::ops::why_not_flash(query, key, value, options);
      if (!reason.empty()) ctx.skip("implementation=flash " + reason);
    }
    ctx.metric("implementation", kymo::ops::chosen_implementation(query, key, value, options));
  }

  int score_passes(bool, bool) const override { return 0; }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(AttentionFlash)
