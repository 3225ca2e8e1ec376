// SPDX-License-Identifier: Apache-2.0
#include <kymo/torch.hpp>
#include <stdexcept>

#include "transformer/attention.hpp"
#include "transformer_lm.hpp"

namespace {

namespace transformer = kymo::transformer;

std::vector<std::string> size_choices() {
  std::vector<std::string> names = transformer::size_names();
  names.push_back("custom");
  return names;
}

void skip_unless_available(kymo::Context& ctx, const Settings& settings) {
  // Under autocast, attention receives the output type of the projections.
  const std::string reason = transformer::why_unavailable(settings.attention, kymo::libtorch::select_device(ctx),
                                                          settings.autocast.value_or(settings.dtype),
                                                          settings.model.context, settings.model.head_dim());
  if (!reason.empty()) ctx.skip("attention=" + settings.attention + " is not supported: " + reason);
}

/// A dimension that is set explicitly overrides that of the size.
void override_dimension(kymo::Context& ctx, const char* name, bool custom, std::int64_t& dimension) {
  const std::int64_t given = ctx.integer(name);
  if (given > 0) dimension = given;
  if (given == 0 && custom)
    throw std::invalid_argument(std::string(name) + " is 0; size=custom needs d_model, d_ff, layers and heads");
}

transformer::Config read_config(kymo::Context& ctx) {
  transformer::Config config;
  const std::string size = ctx.text("size");
  const bool custom = size == "custom";
  if (!custom) transformer::set_size(config, size);
  config.vocab_size = ctx.integer("vocab_size");
  config.context = ctx.integer("context");
  override_dimension(ctx, "d_model", custom, config.d_model);
  override_dimension(ctx, "d_ff", custom, config.d_ff);
  override_dimension(ctx, "layers", custom, config.layers);
  override_dimension(ctx, "heads", custom, config.heads);
  transformer::validate(config);
  return config;
}

}  // namespace

kymo::Descriptor describe_settings() {
  using kymo::Bool, kymo::Choice, kymo::Int;
  return kymo::Descriptor{"transformer_lm",
                          "training step of a decoder-only Transformer language model (RMSNorm, rotary embeddings, "
                          "SwiGLU) with AdamW, on random weights and tokens"}
      .family("transformer")
      .param("size", Choice{"tiny", size_choices()}.axis({"small", "medium", "large", "xl", "2.7B"}),
             "preset for d_model, d_ff, layers and heads; custom requires setting them individually")
      .param("vocab_size", Int{10000}.at_least(1), "vocabulary size")
      .param("context", Int{256}.at_least(1).unit("tokens").axis({128, 256, 512, 1024}), "sequence length")
      .param("d_model", Int{0}.at_least(0), "model dimension; 0 uses the preset's")
      .param("d_ff", Int{0}.at_least(0), "feed-forward dimension; 0 uses the preset's")
      .param("layers", Int{0}.at_least(0), "number of blocks; 0 uses the preset's")
      .param("heads", Int{0}.at_least(0), "number of attention heads, must divide d_model; 0 uses the preset's")
      .param("batch", Int{4}.at_least(1).unit("sequences").axis({1, 2, 4, 8, 16}), "batch size")
      .param("dtype", Choice{"fp32", kymo::libtorch::dtype_names()},
             "data type of weights, gradients and optimizer state")
      .param("autocast", Bool{false},
             "run the forward pass in mixed precision: bf16 matrix multiplications, fp32 weights")
      .param("mode", Choice{"train", kymo::training::mode_names()}.axis(kymo::training::mode_names()),
             "passes of a step; forward records no gradients")
      .param("attention", Choice{"naive", transformer::attention_names()}.axis({"naive", "tiled", "flash", "sdpa"}),
             "naive: all scores in memory; tiled and flash: FlashAttention-2 in tensor operations and in CUDA; sdpa: "
             "LibTorch's scaled_dot_product_attention, with sdpa_cudnn, sdpa_flash, sdpa_efficient and sdpa_math "
             "selecting its backend. The run is skipped if the device, type and shape are not supported")
      .param("execution", Choice{"eager", {"eager", "graph"}}.axis({"eager", "graph"}).title("CUDA {}"),
             "eager, or graph: capture the step into a CUDA graph and replay it (device=cuda only). Step 0 captures in "
             "the phases forward, backward and optimizer, which executes nothing, and then replays the graph once in "
             "the phase replay, as all later steps do. Before step 0, three warm-up passes without an update leave the "
             "weights unchanged")
      .optional_phases({"forward", "backward", "optimizer", "replay"})
      .uses(kymo::Framework::LibTorch)
      .ranks(1, 1)
      .asynchronous();
}

Settings read_settings(kymo::Context& ctx) {
  Settings settings;
  settings.model = read_config(ctx);
  settings.batch = ctx.integer("batch");
  settings.dtype = kymo::libtorch::dtype(ctx.text("dtype"));
  settings.mode = kymo::training::mode_of(ctx.text("mode"));
  settings.attention = ctx.text("attention");
  settings.graph = ctx.text("execution") == "graph";
  if (settings.graph && !ctx.is_cuda()) ctx.skip("execution=graph requires device=cuda");
  if (ctx.boolean("autocast")) {
    if (settings.dtype != at::kFloat)
      ctx.skip("autocast requires fp32 weights: dtype=" + ctx.text("dtype") + " is not supported");
    settings.autocast = at::kBFloat16;
  }
  skip_unless_available(ctx, settings);
  return settings;
}
