// SPDX-License-Identifier: Apache-2.0
// Registration of the operators with LibTorch: schemas, and the function for each dispatch key.
//
//   caller ─► Autocast (casts) ─► Autograd (saves what backward needs) ─► CPU, CUDA (compute) or Meta (shapes only)
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "ops/attention.hpp"
#include "ops/dispatch.hpp"
#include "ops/kernels.hpp"

namespace kymo::ops {
namespace {

using at::Tensor;
using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;
using Scale = std::optional<double>;

// The arguments are those of the operators' schemas.
template <class... Arguments>
Pair call_forward(const Arguments&... arguments) {
  static const auto op = operator_named<decltype(forward_kernel)>("kymo::attention_forward");
  return op.call(arguments...);
}

template <class... Arguments>
Triple call_backward(const Arguments&... arguments) {
  static const auto op = operator_named<decltype(backward_kernel)>("kymo::attention_backward");
  return op.call(arguments...);
}

using AttentionSignature = Tensor(const Tensor&, const Tensor&, const Tensor&, bool, Scale, std::string_view, bool);

template <class... Arguments>
Tensor call_attention(const Arguments&... arguments) {
  static const auto op = operator_named<AttentionSignature>("kymo::attention");
  return op.call(arguments...);
}

/// Differentiable attention. Saves q, k, v, o and the log-sum-exp of each row; backward recomputes the weights.
struct Differentiable : torch::autograd::Function<Differentiable> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* saved, const Tensor& q,
                                                const Tensor& k, const Tensor& v, bool causal, Scale scale,
                                                const std::string& implementation, bool deterministic) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto [o, lse] = call_forward(q, k, v, causal, scale, implementation);
    saved->save_for_backward({q, k, v, o, lse});
    saved->mark_non_differentiable({lse});
    saved->set_materialize_grads(false);  // otherwise, a kernel fills a gradient of lse
    saved->saved_data["causal"] = causal;
    saved->saved_data["scale"] = scale;
    saved->saved_data["implementation"] = implementation;
    saved->saved_data["deterministic"] = deterministic;
    return {o, lse};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* saved,
                                                 const torch::autograd::variable_list& output_gradients) {
    if (!output_gradients[0].defined()) return torch::autograd::variable_list(7);
    const torch::autograd::variable_list tensors = saved->get_saved_variables();
    const SkipAutogradInBackward skip_autograd;
    const auto [dq, dk, dv] =
        call_backward(output_gradients[0], tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],
                      saved->saved_data["causal"].toBool(), saved->saved_data["scale"].toOptional<double>(),
                      saved->saved_data["implementation"].toStringRef(), saved->saved_data["deterministic"].toBool());
    return {dq, dk, dv, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

Tensor attention_autograd(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, Scale scale,
                          std::string_view implementation, bool deterministic) {
  return Differentiable::apply(q, k, v, causal, scale, std::string(implementation), deterministic)[0];
}

Pair forward_autograd(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, Scale scale,
                      std::string_view implementation) {
  const auto results = Differentiable::apply(q, k, v, causal, scale, std::string(implementation), false);
  return {results[0], results[1]};
}

/// Used for tensors that require no gradient: the same on CPU, CUDA and Meta.
Tensor attention_alone(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, Scale scale,
                       std::string_view implementation, bool) {
  return std::get<0>(call_forward(q, k, v, causal, scale, implementation));
}

/// Under autocast, fp32 inputs are cast to the autocast type, as LibTorch does for its own attention; fp64 is
/// unchanged.
template <at::DeviceType device>
struct Autocast {
  static Tensor cast(const Tensor& tensor) {
    return at::autocast::cached_cast(at::autocast::get_autocast_dtype(device), tensor, device);
  }
  static c10::impl::ExcludeDispatchKeyGuard off() {
    return c10::impl::ExcludeDispatchKeyGuard(at::autocast::get_autocast_dispatch_key_from_device_type(device));
  }

  static Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, Scale scale,
                          std::string_view implementation, bool deterministic) {
    const auto no_autocast = off();
    return call_attention(cast(q), cast(k), cast(v), causal, scale, implementation, deterministic);
  }
  static Pair forward(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, Scale scale,
                      std::string_view implementation) {
    const auto no_autocast = off();
    return call_forward(cast(q), cast(k), cast(v), causal, scale, implementation);
  }
  static Triple backward(const Tensor& gradient, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o,
                         const Tensor& lse, bool causal, Scale scale, std::string_view implementation,
                         bool deterministic) {
    const auto no_autocast = off();
    return call_backward(cast(gradient), cast(q), cast(k), cast(v), cast(o), lse, causal, scale, implementation,
                         deterministic);
  }

  static void implement(torch::Library& library) {
    library.impl("attention", &attention);
    library.impl("attention_forward", &forward);
    library.impl("attention_backward", &backward);
  }
};

void implement_on_device(torch::Library& library) {
  library.impl("attention_forward", &forward_kernel);
  library.impl("attention_backward", &backward_kernel);
  library.impl("attention", &attention_alone);
}

}  // namespace

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  return call_attention(query, key, value, options.causal, options.scale, options.implementation,
                        options.deterministic);
}

Pair attention_forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  return call_forward(query, key, value, options.causal, options.scale, options.implementation);
}

Triple attention_backward(const Tensor& output_gradient, const Tensor& query, const Tensor& key, const Tensor& value,
                          const Tensor& output, const Tensor& log_sum_exp, const AttentionOptions& options) {
  return call_backward(output_gradient, query, key, value, output, log_sum_exp, options.causal, options.scale,
                       options.implementation, options.deterministic);
}

TORCH_LIBRARY(kymo, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag, at::Tag::needs_exact_strides};
  library.def(
      "attention_forward(Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None, str "
      "implementation=\"auto\") -> (Tensor o, Tensor lse)",
      tags);
  library.def(
      "attention_backward(Tensor do, Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, bool causal=False, float? "
      "scale=None, str implementation=\"auto\", bool deterministic=False) -> (Tensor dq, Tensor dk, Tensor dv)",
      tags);
  library.def(
      "attention(Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None, str implementation=\"auto\", "
      "bool deterministic=False) -> Tensor",
      tags);
}

TORCH_LIBRARY_IMPL(kymo, CPU, library) { implement_on_device(library); }
TORCH_LIBRARY_IMPL(kymo, CUDA, library) { implement_on_device(library); }

TORCH_LIBRARY_IMPL(kymo, Meta, library) {
  library.impl("attention_forward", &forward_shapes);
  library.impl("attention_backward", &backward_shapes);
  library.impl("attention", &attention_alone);
}

TORCH_LIBRARY_IMPL(kymo, Autograd, library) {
  library.impl("attention", &attention_autograd);
  library.impl("attention_forward", &forward_autograd);
  // Double backward throws instead of silently returning no gradient.
  library.impl("attention_backward", torch::autograd::autogradNotImplementedFallback());
}

TORCH_LIBRARY_IMPL(kymo, AutocastCPU, library) { Autocast<at::kCPU>::implement(library); }
TORCH_LIBRARY_IMPL(kymo, AutocastCUDA, library) { Autocast<at::kCUDA>::implement(library); }

}  // namespace kymo::ops
