// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#define KYMO_LAYERS_API __attribute__((visibility("default")))

/// Fused layers of a Transformer: C++ interface to operators that Python calls as torch.ops.kymo.* after loading
/// libkymo_ops.so.
///
/// Types: fp32, bf16, fp16 and fp64. Sums are accumulated in fp32, or in fp64 for fp64, and each result is rounded
/// once. On a GPU of compute capability 8.0 or later, a layer is one or two CUDA kernels (why_no_kernel() states when
/// it is not); otherwise it consists of LibTorch's operators. Nothing synchronizes with the device, all results are
/// bitwise reproducible, and calls can be captured into CUDA graphs. Tensors that are not contiguous are copied, unless
/// stated otherwise. Double backward is not supported, except by rotary().
///
/// Invalid inputs throw c10::Error or a derived class with a one-line message that states the requirement.
namespace kymo::ops {

/// Whether `dtype` is bf16 or fp16, which are used together with sums, weights or optimizer states in fp32.
inline bool is_narrow(at::ScalarType dtype) { return dtype == at::kBFloat16 || dtype == at::kHalf; }

/// x / √(mean(x²) + epsilon) · weight over the last dimension. `weight` is [width] and has the type of x or fp32.
/// `dtype` is the type of the result: that of x by default; bf16 and fp16 are also possible for fp32.
KYMO_LAYERS_API at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon = 1e-5,
                                    std::optional<at::ScalarType> dtype = {});

/// Adds a branch to the residual stream and normalizes the sum: returns rms_norm(residual + x) in the type of x, and
/// residual + x in the type of `residual`, which is that of x or fp32.
KYMO_LAYERS_API std::tuple<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& x, const at::Tensor& residual,
                                                                const at::Tensor& weight, double epsilon = 1e-5);

/// silu(gate) · up, where gate and up are the halves of the last dimension. Saves its input only.
KYMO_LAYERS_API at::Tensor swiglu(const at::Tensor& gate_and_up);

/// Rotary position embedding. `qkv` is [batch, sequence, 3, heads, d], the joint projection to query, key and value;
/// `rotation` is [sequence, d / 2, 2], the cosine and sine of each position and pair, in fp32 (fp64 for fp64). Pair i
/// consists of the elements 2i and 2i + 1. `inverse` rotates by the negative angles. The value is unchanged.
KYMO_LAYERS_API at::Tensor rotary(const at::Tensor& qkv, const at::Tensor& rotation, bool inverse = false);
/// The same in place, for contiguous tensors, without autograd support.
KYMO_LAYERS_API void rotary_(const at::Tensor& qkv, const at::Tensor& rotation, bool inverse = false);
/// Rotates query and key, and joins them and the value: three tensors [batch, heads, sequence, d] of any strides to one
/// contiguous [batch, sequence, 3, heads, d]. With `inverse`, this is the backward pass of rotary() and of the split of
/// its result. Without autograd support.
KYMO_LAYERS_API at::Tensor rotary_join(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const at::Tensor& rotation, bool inverse = false);

struct AdamWOptions {
  double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 1e-2;  ///< decoupled: p ← p·(1 − learning_rate·weight_decay)
  at::Tensor gradient_norm{};  ///< fp32 scalar on the device; if defined, gradients are clipped
  double max_norm = 1;         ///< gradients are multiplied by min(1, max_norm / (gradient_norm + 1e-6))
  bool zero_gradients = false;
};

/// AdamW of all parameters in place. All tensors share a device. A gradient has the type of the parameters; if they are
/// fp32, it may also be bf16 or fp16, which gives the same result as a gradient that was converted to fp32. The moments
/// share a type, that of the parameters or fp32. Every tensor is contiguous, and the lists are equally long. `steps`
/// contains the step count of each parameter before the update, fp32 scalars on the device, which are incremented.
///
/// `copies` may be empty. Otherwise it contains, for each fp32 parameter, the tensor to which the updated parameter is
/// rounded, or a tensor without elements if the parameter has none: with the parameters as master weights, the copies
/// are the weights that matrix products read. Copies and narrow gradients share a type.
///
/// On a GPU, 448 parameters take two kernels: one for the step counts and one for the update.
KYMO_LAYERS_API void adamw_(at::TensorList parameters, at::TensorList gradients, at::TensorList means,
                            at::TensorList square_means, at::TensorList steps, const AdamWOptions& options,
                            at::TensorList copies = {});

/// Mean cross entropy of the logits x · weightᵀ against `target`. x is [tokens, width], weight is [classes, width] and
/// has the type of x or fp32, target is int64 [tokens] in [0, classes) (on a GPU, a target out of range makes the loss
/// NaN). The result is a scalar in fp32 (fp64 for fp64).
///
/// The logits are computed for `chunk_rows` tokens at a time, and the gradients are computed in the forward pass, so
/// that backward only scales them. chunk_rows = 0 limits the logits of a chunk to 256 MiB, with at least 1024 tokens;
/// or to what the gradient of a bf16 or fp16 weight takes; or to what a gradient of the weight in fp32 takes, if all
/// logits fit into that and the weight has the type of x.
KYMO_LAYERS_API at::Tensor linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& target,
                                                std::int64_t chunk_rows = 0);

/// Why the CUDA kernels do not support tensors with the device and type of `like` and rows of this many elements; empty
/// if they do. Rows must be multiples of 16 bytes, and those of a norm have at most 8192 elements. linear_cross_entropy
/// and adamw_ support all rows: pass 0.
KYMO_LAYERS_API std::string why_no_kernel(const at::Tensor& like, std::int64_t row);

}  // namespace kymo::ops
