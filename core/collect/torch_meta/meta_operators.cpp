// SPDX-License-Identifier: Apache-2.0
#include "collect/torch_meta/meta_operators.hpp"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/library.h>

#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

// Operators on meta have the shapes of their results. What they allocate differs where a device has a kernel for
// several operators, and tensors on meta have no mixed precision. A dispatch key that no tensor has, and that this
// thread includes, leads to the kernels here before any others.
namespace kymo::collect {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr c10::DispatchKey kMode = c10::DispatchKey::TESTING_ONLY_GenericMode;
/// No tensor has this key either. A thread that compiles excludes it (kymo/_prediction.py), which no guard notices. The
/// kernels of FakeTensors exclude all keys of higher priority than Python's, which this one is not.
constexpr c10::DispatchKey kCompiles = c10::DispatchKey::CustomRNGKeyId;
/// Of cuBLAS, on GPUs since Hopper, for each stream and each thread that computes products: the thread of forward, and
/// autograd's thread of the device.
constexpr std::int64_t kCublasWorkspaceBytes = std::int64_t{32} << 20;

at::DeviceType g_device = at::kCPU;
MetaMode::Workspaces g_workspaces;
/// Weights that mixed precision has cast. They are dropped by the first product outside of it: nothing tells its end.
std::unordered_map<const c10::TensorImpl*, Tensor> g_cast;

bool is_cuda() { return g_device == at::kCUDA; }

std::optional<at::ScalarType> autocast_type() {
  if (at::autocast::is_autocast_enabled(g_device)) return at::autocast::get_autocast_dtype(g_device);
  g_cast.clear();
  return std::nullopt;
}

/// As at::autocast::cached_cast(), which does not cast tensors on meta.
Tensor cast(const Tensor& tensor, at::ScalarType type) {
  if (!tensor.defined() || !tensor.is_floating_point() || tensor.scalar_type() == at::kDouble ||
      tensor.scalar_type() == type)
    return tensor;
  const bool is_cached =
      tensor.scalar_type() == at::kFloat && tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view();
  if (!is_cached) return tensor.to(type);
  Tensor& copy = g_cast[tensor.unsafeGetTensorImpl()];
  if (!copy.defined()) copy = tensor.to(type);
  return copy;
}

void cast_arguments(const c10::OperatorHandle& op, torch::jit::Stack* stack, at::ScalarType type) {
  const auto count = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  for (auto argument = stack->end() - count; argument != stack->end(); ++argument)
    if (argument->isTensor()) *argument = cast(argument->toTensor(), type);
}

void call_below(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(kMode);
  op.callBoxed(stack);
}

/// A matrix product.
void product(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto type = autocast_type();
  if (type) cast_arguments(op, stack, *type);
  const bool is_backward = torch::autograd::get_current_graph_task_id() >= 0;
  Tensor& workspace = g_workspaces[is_backward ? 1 : 0];
  if (is_cuda() && !workspace.defined() && !MetaMode::is_compiling())
    workspace = at::detail::empty_meta({kCublasWorkspaceBytes}, at::kByte);
  call_below(op, stack);
}

/// What mixed precision computes in fp32 on both devices.
void in_fp32(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (autocast_type()) cast_arguments(op, stack, at::kFloat);
  call_below(op, stack);
}

/// On a GPU, mixed precision casts within this operator.
void cross_entropy(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (!is_cuda()) return in_fp32(op, stack);
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kMode), stack);
}

/// kymo's head and loss: the weight is cast within it.
void fused_loss(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (const auto type = autocast_type()) {
    c10::IValue& input = *(stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size()));
    input = cast(input.toTensor(), *type);
  }
  call_below(op, stack);
}

/// softmax and log_softmax, which mixed precision computes in fp32 on a GPU: the last argument is the type.
void softmax(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  c10::IValue& type = stack->back();
  if (autocast_type() && is_cuda() && type.isNone()) type = at::kFloat;
  call_below(op, stack);
}

/// The gradient of softmax: the kernel of a GPU first writes the product of gradient and result to a temporary tensor.
void softmax_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Tensor product = is_cuda() ? at::empty_like((stack->end() - 4)->toTensor()) : Tensor();
  call_below(op, stack);
}

/// The fused kernel of a GPU, which keeps the reciprocal deviations instead of intermediate results.
struct FusedNorm : torch::autograd::Function<FusedNorm> {
  static Tensor forward(AutogradContext* ctx, const Tensor& input, const Tensor& weight) {
    std::vector<std::int64_t> rows = input.sizes().vec();
    rows.back() = 1;
    ctx->save_for_backward({input, weight, at::empty(rows, input.options().dtype(at::kFloat))});
    return at::empty_like(input);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list&) {
    const variable_list saved = ctx->get_saved_variables();
    return {at::empty_like(saved[0]), at::empty_like(saved[1])};
  }
};

std::tuple<Tensor, Tensor> fused_rms_norm(const Tensor& input, at::IntArrayRef shape,
                                          const std::optional<Tensor>& weight, std::optional<double> epsilon) {
  if (is_cuda() && weight && weight->defined() && !MetaMode::is_compiling()) {
    const c10::impl::ExcludeDispatchKeyGuard below(kMode);
    return {FusedNorm::apply(input, *weight), Tensor()};
  }
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("aten::_fused_rms_norm", "")
                             .typed<std::tuple<Tensor, Tensor>(const Tensor&, at::IntArrayRef,
                                                               const std::optional<Tensor>&, std::optional<double>)>();
  const c10::impl::ExcludeDispatchKeyGuard below(kMode);
  return op.call(input, shape, weight, epsilon);
}

/// Attention kernels keep their inputs, the result, and a sum for each query.
struct FusedAttention : torch::autograd::Function<FusedAttention> {
  static Tensor forward(AutogradContext* ctx, const Tensor& query, const Tensor& key, const Tensor& value) {
    const auto batch = query.size(0), heads = query.size(1), length = query.size(2);
    const Tensor result = at::empty({batch, length, heads, value.size(3)}, query.options()).transpose(1, 2);
    ctx->save_for_backward(
        {query, key, value, result, at::empty({batch, heads, length}, query.options().dtype(at::kFloat))});
    return result;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list&) {
    const variable_list saved = ctx->get_saved_variables();
    // The gradient of the queries is summed in fp32 on a GPU.
    const Tensor sums = is_cuda() && saved[0].scalar_type() != at::kFloat
                            ? at::empty(saved[0].sizes(), saved[0].options().dtype(at::kFloat))
                            : Tensor();
    return {at::empty_like(saved[0]), at::empty_like(saved[1]), at::empty_like(saved[2])};
  }
};

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask,
                 double dropout, bool causal, std::optional<double> scale, bool grouped) {
  const auto type = autocast_type();
  const auto typed = [&](const Tensor& tensor) { return type ? cast(tensor, *type) : tensor; };
  const Tensor q = typed(query), k = typed(key), v = typed(value);
  const at::Context& torch = at::globalContext();
  const bool is_fused =
      !MetaMode::is_compiling() && !(mask && mask->defined()) && dropout == 0 && !grouped && q.dim() == 4 &&
      (torch.userEnabledFlashSDP() || torch.userEnabledMemEfficientSDP() || torch.userEnabledCuDNNSDP());
  const c10::impl::ExcludeDispatchKeyGuard below(kMode);
  if (is_fused) return FusedAttention::apply(q, k, v);
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("aten::scaled_dot_product_attention", "")
                             .typed<Tensor(const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&,
                                           double, bool, std::optional<double>, bool)>();
  return op.call(q, k, v, mask, dropout, causal, scale, grouped);
}

// Operators without a kernel on meta.

Tensor index_select(const Tensor& from, std::int64_t dim, const Tensor& index) {
  std::vector<std::int64_t> sizes = from.sizes().vec();
  sizes[static_cast<std::size_t>(at::maybe_wrap_dim(dim, from.dim()))] = index.numel();
  return at::empty(sizes, from.options());
}

Tensor embedding_backward(const Tensor& gradient, const Tensor&, std::int64_t weights, std::int64_t, bool) {
  return at::empty({weights, gradient.size(-1)}, gradient.options());
}

/// Changes its arguments in place and returns nothing.
void in_place(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
}

template <auto kernel>
torch::CppFunction boxed() {
  return torch::CppFunction::makeFromBoxedFunction<kernel>();
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) { library.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, library) {
  for (const char* name : {"linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm"})
    library.impl(name, boxed<&product>());
  for (const char* name : {"mse_loss", "nll_loss", "nll_loss_nd"}) library.impl(name, boxed<&in_fp32>());
  library.impl("cross_entropy_loss", boxed<&cross_entropy>());
  for (const char* name : {"softmax.int", "log_softmax.int"}) library.impl(name, boxed<&softmax>());
  library.impl("_softmax_backward_data", boxed<&softmax_backward>());
  library.impl("_fused_rms_norm", &fused_rms_norm);
  library.impl("scaled_dot_product_attention", &attention);
}

TORCH_LIBRARY_IMPL(kymo, TESTING_ONLY_GenericMode, library) {
  for (const char* name : {"attention", "attention_forward", "attention_backward"})
    library.impl(name, boxed<&product>());
  library.impl("linear_cross_entropy", boxed<&fused_loss>());
}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("index_select", &index_select);
  library.impl("embedding_dense_backward", &embedding_backward);
  library.impl("_fused_adamw_", boxed<&in_place>());
}

}  // namespace

MetaMode::MetaMode(measure::DeviceKind device) {
  g_device = device == measure::DeviceKind::kCuda ? at::kCUDA : at::kCPU;
  c10::impl::tls_set_dispatch_key_included(kMode, true);
}

MetaMode::~MetaMode() {
  c10::impl::tls_set_dispatch_key_included(kMode, false);
  g_cast.clear();
  g_workspaces = {};
}

bool MetaMode::is_compiling() { return c10::impl::tls_is_dispatch_key_excluded(kCompiles); }

void MetaMode::end_step() { g_cast.clear(); }

const MetaMode::Workspaces& MetaMode::workspaces() { return g_workspaces; }

}  // namespace kymo::collect
