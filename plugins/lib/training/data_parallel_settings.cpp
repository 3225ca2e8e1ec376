// SPDX-License-Identifier: Apache-2.0
#include "training/data_parallel_settings.hpp"

#include <kymo/torch.hpp>

#include "transformer/attention.hpp"

namespace kymo::training {

Descriptor describe_data_parallel(const char* name, const char* documentation) {
  return Descriptor{name, documentation}
      .param("model", Choice{"tiny", model_names()}.axis({"small", "medium", "large", "xl"}),
             "a Transformer size, with a vocabulary of 10000 and 6 parameters per block (query, key and value "
             "are one, gate and up are one), or a perceptron: toy (three layers and a parameter that is never "
             "trained), tied (two layers share a weight), frozen (one layer is not trained)")
      .param("context", Int{128}.at_least(1).unit("tokens").axis({128, 256, 512}),
             "sequence length; not used by perceptrons")
      .param("batch", Int{2}.at_least(1).unit("sequences").axis({1, 2, 4, 8}),
             "sequences (perceptrons: examples) per rank and step")
      .param("dtype", Choice{"fp32", libtorch::dtype_names()}, "data type of weights, gradients and optimizer state")
      .param("autocast", Bool{false},
             "run the forward pass in mixed precision: bf16 matrix multiplications, fp32 weights and gradients")
      .param("attention", Choice{"naive", transformer::attention_names()},
             "naive: all scores in memory; sdpa: LibTorch's scaled_dot_product_attention")
      .param("optimizer", Choice{"adamw", rule_names()}, "optimizer; sgd keeps no state")
      .param("backend", Choice{"auto", comm::backend_names()},
             "communication backend; auto selects NCCL on GPUs and Gloo on the CPU")
      .param("nccl_blocks", Int{0}.at_least(0).axis({8, 16, 24}),
             "maximum number of thread blocks of NCCL's kernels, each of which occupies an SM; 0 uses NCCL's default")
      .param("communicate", Bool{true},
             "false: run the same step without communication, so that the ranks train independently")
      .phases({"forward", "backward", "communication", "optimizer"})
      .uses(Framework::LibTorch)
      .ranks(1);
}

DataParallelSettings read_data_parallel(const Context& ctx) {
  DataParallelSettings settings;
  settings.model.name = ctx.text("model");
  settings.model.context = ctx.integer("context");
  settings.model.attention = ctx.text("attention");
  settings.batch = ctx.integer("batch");
  settings.dtype = libtorch::dtype(ctx.text("dtype"));
  settings.rule.name = ctx.text("optimizer");
  settings.backend = comm::backend_of(ctx.text("backend"), ctx);
  settings.max_blocks = static_cast<int>(ctx.integer("nccl_blocks"));
  settings.communicate = ctx.boolean("communicate");
  if (!ctx.boolean("autocast")) return settings;
  if (settings.dtype != at::kFloat)
    ctx.skip("autocast requires fp32 weights: dtype=" + ctx.text("dtype") + " is not supported");
  settings.autocast = at::kBFloat16;
  return settings;
}

}  // namespace kymo::training
