// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 with kymo's own operators: scores are computed tile by tile and never stored.
#include <kymo/workload.hpp>

#include "ops/attention.hpp"
#include "transformer/attention_workload.hpp"

namespace {

namespace transformer = kymo::transformer;

class AttentionFlash final : public transformer::AttentionWorkload {
 public:
  static kymo::Descriptor describe() {
    return describe_as("attention_flash", 1,
                       "FlashAttention-2 in CUDA or in tensor operations (libkymo_ops.so). FLOPs: half if causal, "
                       "backward 2.5 times forward. Bytes: inputs and outputs, each once")
        .title("")
        .param(
            "implementation",
            kymo::Choice{"auto", {"auto", "tiled", "flash"}}.axis({"tiled", "flash"}).title("{}", kymo::Shown::Always),
            "flash: CUDA kernels; tiled: tensor operations on any device; auto: flash if supported, otherwise "
            "tiled. The run is skipped if flash is requested but not supported")
        .param("deterministic", kymo::Bool{false}, "bitwise reproducible gradients; tiled is always deterministic");
  }

 private:
  std::unique_ptr<transformer::Attention> make(kymo::Context& ctx, bool causal) override {
    return transformer::make_operator_attention(ctx.text("implementation"), causal, ctx.boolean("deterministic"));
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
