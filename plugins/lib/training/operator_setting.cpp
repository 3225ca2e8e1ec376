// SPDX-License-Identifier: Apache-2.0
#include "training/operator_setting.hpp"

#include <algorithm>
#include <kymo/torch.hpp>
#include <stdexcept>

#include "ops/layers.hpp"

namespace kymo::training {

AdamWSetting OperatorSetting::adamw() const {
  AdamWSetting setting;
  setting.own_kernel = fused.optimizer;
  setting.fp32_moments = fp32_moments;
  return setting;
}

std::vector<std::string> optimizer_state_names() { return {"dtype", "fp32", "master_weights"}; }

void set_optimizer_state(OperatorSetting& setting, std::string_view name) {
  setting.fp32_moments = name == "fp32";
  setting.master_weights = name == "master_weights";
  if (name != "dtype" && !setting.fp32_moments && !setting.master_weights)
    throw std::invalid_argument("unknown optimizer state '" + std::string(name) +
                                "', must be one of dtype, fp32, master_weights");
}

Choice operators_choice() {
  return Choice{"library", transformer::fused_layers_names()}.axis({"library", "fused"}).title("{} operators");
}

Choice optimizer_state_choice() { return {"dtype", optimizer_state_names()}; }

const char* const kOperatorsText =
    "library: LibTorch's RMSNorm, rotary embedding, SwiGLU, head with cross entropy, and AdamW; fused: kymo's fused "
    "operators for these five; fused_except_LAYER: LibTorch's for one of them; fused_except_master_weights: under "
    "autocast, a cast of the weights and gradients per step";
const char* const kOptimizerStateText =
    "data type of AdamW's state with dtype=bf16 or fp16 and operators=fused; dtype: that of the weights; fp32: moments "
    "in fp32; master_weights: moments in fp32, and fp32 master weights, which are updated and rounded to the weights";
const char* const kAutocastText =
    "run the forward pass in mixed precision: bf16 matrix multiplications, fp32 weights. With operators=fused, the "
    "weights of the multiplications and their gradients are bf16, and AdamW holds the fp32 master weights; otherwise "
    "they are cast in each step";

Choice checkpoint_choice() {
  return Choice{"none", transformer::checkpoint_names()}
      .axis({"none", "blocks", "nested", "selective"})
      .title("{} checkpoints");
}

Int checkpoint_blocks() { return Int{1}.at_least(1).unit("blocks").axis({1, 2, 4, 8}).title("{} blocks a checkpoint"); }

Int checkpoint_feed_forward() {
  return Int{0}.at_least(0).unit("blocks").title("gate and up of {} blocks computed again");
}

const char* const kCheckpointText =
    "activations that are not kept for the backward pass, but computed again in the phase recompute, which interrupts "
    "it; blocks: all but the inputs of segments of checkpoint_blocks blocks; nested: the same for halves of the model, "
    "and recursively for their halves; selective: what is cheap to compute, namely the norms, the activation of the "
    "feed-forward part, and the attention weights of attention=naive; in checkpoint_feed_forward blocks more";
const char* const kCheckpointBlocksText =
    "size of the segments of checkpoint=blocks, and smallest size of those of checkpoint=nested";
const char* const kCheckpointFeedForwardText =
    "number of blocks, from the first, in which checkpoint=selective also computes gate and up again, the largest "
    "results of matrix products";

double tolerance_of(const OperatorSetting& setting) {
  if (setting.autocast || setting.dtype == at::kBFloat16) return 6e-2;
  return setting.dtype == at::kHalf ? 1e-2 : 2e-5;
}

OperatorSetting read_operators(const Context& ctx) {
  OperatorSetting setting;
  setting.dtype = libtorch::dtype(ctx.text("dtype"));
  setting.fused = transformer::fused_layers(ctx.text("operators"));
  if (ctx.boolean("autocast")) setting.autocast = at::kBFloat16;
  set_optimizer_state(setting, ctx.text("optimizer_state"));
  setting.checkpoint = {.kind = transformer::checkpoint_named(ctx.text("checkpoint")),
                        .blocks = ctx.integer("checkpoint_blocks"),
                        .feed_forward_blocks = ctx.integer("checkpoint_feed_forward")};
  return setting;
}

void skip_unless_supported(const Context& ctx, const OperatorSetting& setting, const std::string& optimizer) {
  if (setting.autocast && setting.dtype != at::kFloat)
    ctx.skip("autocast requires fp32 weights: dtype=" + ctx.text("dtype") + " is not supported");
  if (setting.checkpoint.feed_forward_blocks > 0 && setting.checkpoint.kind != transformer::Checkpointing::kSelective)
    ctx.skip("checkpoint_feed_forward requires checkpoint=selective: it has no effect with checkpoint=" +
             ctx.text("checkpoint"));
  if (!setting.fp32_moments && !setting.master_weights) return;
  const std::string given = "optimizer_state=" + ctx.text("optimizer_state");
  if (!ops::is_narrow(setting.dtype))
    ctx.skip(given + " requires dtype=bf16 or fp16: with fp32 weights, the optimizer state is fp32");
  if (!setting.fused.optimizer) ctx.skip(given + " requires kymo's AdamW: operators=fused");
  if (!setting.fused_optimizer) ctx.skip(given + " requires kymo's AdamW: it has no effect with " + optimizer);
}

TrainedWeights make_trained_weights(const transformer::Config& model, const OperatorSetting& setting,
                                    const at::Device& device, const at::Generator& generator) {
  const auto options = at::TensorOptions().dtype(setting.dtype).device(device);
  transformer::Weights drawn = transformer::make_weights(model, options, generator);
  if (!setting.has_master_weights()) return {drawn, drawn};
  if (setting.autocast) return {transformer::with_converted_products(drawn, *setting.autocast), drawn};
  return {drawn, transformer::converted(drawn, at::kFloat)};
}

std::vector<at::Tensor> master_weights(const TrainedWeights& weights) {
  const std::vector<at::Tensor> read = transformer::parameters(weights.model);
  std::vector<at::Tensor> masters = transformer::parameters(weights.exact);
  bool has_one = false;
  for (std::size_t i = 0; i < masters.size(); ++i) {
    masters[i] = masters[i].is_same(read[i]) ? at::Tensor() : masters[i].detach();
    has_one = has_one || masters[i].defined();
  }
  return has_one ? masters : std::vector<at::Tensor>{};
}

void report_recomputation(const Context& ctx, const OperatorSetting& setting, const transformer::ForwardFlops& flops,
                          std::int64_t layers, const std::string& attention) {
  const auto times = static_cast<double>(transformer::recomputed_blocks(setting.checkpoint, layers));
  double recomputed = times / static_cast<double>(layers) * (flops.total() - flops.head);
  if (setting.checkpoint.kind == transformer::Checkpointing::kSelective) {
    // Half of the attention's work: scores are computed again, and weighted values are kept.
    if (attention == "naive") recomputed += flops.attention / 2;
    // Gate and up are two of three products.
    const auto blocks = static_cast<double>(std::min(setting.checkpoint.feed_forward_blocks, layers));
    recomputed += blocks / static_cast<double>(layers) * flops.feed_forward * 2 / 3;
  }
  if (recomputed > 0) ctx.metric("recompute_flops", recomputed, "FLOP");
}

PhaseFlops phase_flops(const transformer::ForwardFlops& flops, bool has_backward, bool fused_loss) {
  if (!has_backward) return {.forward = flops.total()};
  const double moved = fused_loss ? 2 * flops.head : 0;
  return {.forward = flops.total() + moved, .backward = flops.backward() - moved};
}

}  // namespace kymo::training
