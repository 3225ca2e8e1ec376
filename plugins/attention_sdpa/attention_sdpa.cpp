// SPDX-License-Identifier: Apache-2.0
// LibTorch's own fused attention with a selectable backend: the baseline for new kernels.
#include <kymo/workload.hpp>

#include "transformer/attention.hpp"
#include "transformer/attention_workload.hpp"

namespace {

using kymo::transformer::SdpaBackend;

class AttentionSdpa final : public kymo::transformer::AttentionWorkload {
 public:
  static kymo::Descriptor describe() {
    return describe_as("attention_sdpa", 2,
                       "LibTorch's scaled_dot_product_attention. FLOPs: half if causal, backward 2.5 times forward. "
                       "Bytes: inputs and outputs, each once")
        .title("LibTorch")
        .param(
            "backend",
            kymo::Choice{"auto", SdpaBackend::names()}
                .axis({"cudnn", "flash", "efficient", "math"})
                .title(" {cudnn=cuDNN}", kymo::Shown::Always),
            "SDPA backend to use; the run is skipped if LibTorch does not support it for the device, type and shape");
  }

 private:
  std::unique_ptr<kymo::transformer::Attention> make(kymo::Context& ctx, bool causal) override {
    const std::string backend = ctx.text("backend");
    return kymo::transformer::make_attention(backend == "auto" ? "sdpa" : "sdpa_" + backend, causal);
  }

  void check(kymo::Context& ctx, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
             bool causal) override {
    const std::string requested = ctx.text("backend");
    const SdpaBackend allowed(requested);
    const std::string chosen = SdpaBackend::chosen_for(query, key, value, causal);
    if (chosen.empty() || (requested != "auto" && requested != chosen))
      ctx.skip("LibTorch has no " + (requested == "auto" ? std::string("fused") : requested) + " attention for " +
               ctx.text("dtype") + ", head_dim " + std::to_string(query.size(-1)) + " on " +
               (ctx.is_cuda() ? "cuda" : "cpu"));
    ctx.metric("backend", chosen);
  }

  int score_passes(bool, bool) const override { return 0; }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(AttentionSdpa)
