// SPDX-License-Identifier: Apache-2.0
#include "analysis/operator_work.hpp"

#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include "analysis/operator_counts.hpp"

namespace kymo::analysis {
namespace {

struct Rule {
  count::Result (*work)(const count::Call&);
  double flops_per_element = 0;
  std::size_t operands = 1;
  std::size_t causal = 0;
};

using Rules = std::unordered_map<std::string_view, Rule>;

/// The operators to which a rule applies.
struct RuleOf {
  Rule rule;
  std::initializer_list<std::string_view> names;
};

Rules by_name(std::initializer_list<RuleOf> list) {
  Rules rules;
  for (const RuleOf& each : list)
    for (const std::string_view name : each.names) rules.emplace(name, each.rule);
  return rules;
}

/// By the name without its library.
const Rules& elementwise_rules() {
  static const auto* const rules = new Rules(by_name({
      {{count::elementwise, 1, 2},
       {"add", "sub", "rsub", "pow", "maximum", "minimum", "fmod", "remainder", "floor_divide", "atan2",
        "threshold_backward", "hardtanh_backward"}},
      {{count::elementwise, 1, 1},
       {"neg",        "abs",      "exp",       "exp2",  "expm1", "log",   "log2",   "log10", "log1p", "sqrt",
        "reciprocal", "sin",      "cos",       "tan",   "tanh",  "erf",   "square", "relu",  "clamp", "clamp_min",
        "clamp_max",  "hardtanh", "threshold", "floor", "ceil",  "round", "trunc",  "sign"}},
      {{count::multiplication, 1, 2}, {"mul", "div"}},
      {{count::elementwise, 2, 1}, {"rsqrt", "leaky_relu"}},
      {{count::elementwise, 2, 2}, {"leaky_relu_backward", "native_dropout_backward"}},
      {{count::elementwise, 3, 2}, {"sigmoid_backward", "tanh_backward", "mse_loss"}},
      {{count::elementwise, 3, 3}, {"addcmul", "addcdiv", "lerp"}},
      {{count::elementwise, 4, 1}, {"sigmoid"}},
      {{count::elementwise, 5, 1}, {"silu", "gelu"}},
      {{count::elementwise, 4, 1}, {"softplus", "elu", "hardswish", "hardsigmoid"}},
      {{count::elementwise, 9, 2}, {"silu_backward"}},
      {{count::elementwise, 11, 2}, {"gelu_backward"}},
      {{count::elementwise, 0, 1}, {"bitwise_not", "logical_not", "tril", "triu"}},
      {{count::elementwise, 0, 2}, {"masked_fill", "bitwise_and", "bitwise_or", "bitwise_xor"}},
      {{count::elementwise, 0, 3}, {"where"}},
      {{count::comparison, 0, 2}, {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"}},
      {{count::comparison, 0, 1}, {"isnan", "isinf", "isfinite"}},
  }));
  return *rules;
}

const Rules& rules() {
  static const auto* const rules = new Rules(by_name({
      {{count::plain_product}, {"aten::mm", "aten::bmm", "aten::mv", "aten::dot", "aten::_int_mm", "aten::_scaled_mm"}},
      {{count::added_product},
       {"aten::addmm", "aten::addmm_", "aten::_addmm_activation", "aten::addmv", "aten::addbmm", "aten::baddbmm",
        "aten::baddbmm_"}},
      {{count::linear}, {"mkldnn::_linear_pointwise", "aten::mkldnn_linear"}},
      {{count::attention_forward, 0, 0, 4},
       {"aten::_scaled_dot_product_flash_attention_for_cpu", "aten::_scaled_dot_product_flash_attention"}},
      {{count::attention_backward, 0, 0, 7}, {"aten::_scaled_dot_product_flash_attention_for_cpu_backward"}},
      {{count::attention_backward, 0, 0, 11},
       {"aten::_scaled_dot_product_flash_attention_backward",
        "aten::_scaled_dot_product_efficient_attention_backward"}},
      {{count::attention_forward, 0, 0, 6},
       {"aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_cudnn_attention"}},
      {{count::attention_backward, 0, 0, 14}, {"aten::_scaled_dot_product_cudnn_attention_backward"}},
      {{count::convolution}, {"aten::convolution", "aten::_convolution"}},
      {{count::convolution_backward}, {"aten::convolution_backward"}},
      // Mean 1, variance 3, difference and quotient 2, scale and shift 2.
      {{count::normalization, 8},
       {"aten::native_layer_norm", "aten::native_group_norm", "aten::native_batch_norm", "aten::cudnn_batch_norm"}},
      {{count::normalization_backward, 14},
       {"aten::native_layer_norm_backward", "aten::native_group_norm_backward", "aten::native_batch_norm_backward",
        "aten::cudnn_batch_norm_backward"}},
      // Mean square 2, quotient 1, scale 1.
      {{count::normalization, 4}, {"aten::_fused_rms_norm"}},
      {{count::normalization_backward, 9}, {"aten::_fused_rms_norm_backward"}},
      {{count::softmax, 5}, {"aten::_softmax", "aten::_safe_softmax", "aten::_log_softmax"}},
      {{count::softmax, 4}, {"aten::_softmax_backward_data", "aten::_log_softmax_backward_data"}},
      {{count::dropout, 2}, {"aten::native_dropout"}},
      {{count::reduction, 1},
       {"aten::sum", "aten::nansum", "aten::mean", "aten::prod", "aten::amax", "aten::amin", "aten::max", "aten::min",
        "aten::argmax", "aten::argmin"}},
      {{count::reduction, 0}, {"aten::any", "aten::all"}},
      {{count::reduction, 2}, {"aten::norm", "aten::linalg_vector_norm", "aten::_foreach_norm"}},
      {{count::reduction, 4}, {"aten::logsumexp", "aten::var", "aten::std", "aten::var_mean"}},
      {{count::scan, 1}, {"aten::cumsum", "aten::cumprod"}},
      {{count::max_pool, 0, 2}, {"aten::max_pool2d_with_indices"}},
      {{count::max_pool, 0, 3}, {"aten::max_pool3d_with_indices"}},
      {{count::max_pool_backward, 0, 2}, {"aten::max_pool2d_with_indices_backward"}},
      {{count::max_pool_backward, 0, 3}, {"aten::max_pool3d_with_indices_backward"}},
      {{count::average_pool, 0, 2}, {"aten::avg_pool2d"}},
      {{count::average_pool, 0, 3}, {"aten::avg_pool3d"}},
      {{count::average_pool_backward, 0, 2}, {"aten::avg_pool2d_backward"}},
      {{count::average_pool_backward, 0, 3}, {"aten::avg_pool3d_backward"}},
      {{count::adaptive_pool}, {"aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d"}},
      {{count::adaptive_pool_backward}, {"aten::_adaptive_avg_pool2d_backward", "aten::_adaptive_avg_pool3d_backward"}},
      {{count::sort}, {"aten::sort"}},
      {{count::top_elements}, {"aten::topk"}},
      {{count::copy_to}, {"aten::copy_", "aten::_foreach_copy_"}},
      {{count::convert}, {"aten::_to_copy"}},
      {{count::copy}, {"aten::clone", "aten::cat", "aten::stack", "aten::flip", "aten::roll"}},
      {{count::overwrite},
       {"aten::fill_", "aten::zero_", "aten::_foreach_zero_", "aten::normal_", "aten::uniform_", "aten::bernoulli_",
        "aten::random_", "aten::exponential_"}},
      {{count::embedding}, {"aten::embedding"}},
      {{count::embedding_backward}, {"aten::embedding_dense_backward"}},
      {{count::index_select}, {"aten::index_select"}},
      {{count::gather}, {"aten::gather"}},
      {{count::scatter, 0}, {"aten::scatter_"}},
      {{count::scatter, 1}, {"aten::scatter_add_"}},
      {{count::nll_loss}, {"aten::nll_loss_forward", "aten::nll_loss2d_forward"}},
      {{count::nll_loss_backward}, {"aten::nll_loss_backward", "aten::nll_loss2d_backward"}},
      // Decay 1, mean 3, square mean 4, denominator 3, update 3.
      {{count::update, 14, 4}, {"aten::_fused_adamw_", "aten::_fused_adam_"}},
      {{count::update, 4, 3}, {"aten::_fused_sgd_"}},
      {{count::collective},
       {"c10d::allreduce_", "c10d::broadcast_", "c10d::reduce_", "c10d::allgather_", "c10d::_allgather_base_",
        "c10d::reduce_scatter_", "c10d::_reduce_scatter_base_", "_c10d_functional::all_reduce",
        "_c10d_functional::all_gather_into_tensor", "_c10d_functional::reduce_scatter_tensor"}},
  }));
  return *rules;
}

/// Finds the rule of `aten::NAME`, `aten::NAME_` and `aten::_foreach_NAME`.
std::optional<Rule> elementwise_rule(std::string_view name, bool& in_place) {
  constexpr std::string_view kLibrary = "aten::", kForeach = "_foreach_";
  if (!name.starts_with(kLibrary)) return std::nullopt;
  name.remove_prefix(kLibrary.size());
  const bool foreach = name.starts_with(kForeach);
  if (foreach) name.remove_prefix(kForeach.size());
  in_place = name.ends_with('_');
  if (in_place) name.remove_suffix(1);
  const auto found = elementwise_rules().find(name);
  if (found == elementwise_rules().end()) return std::nullopt;
  Rule rule = found->second;
  if (foreach) rule.work = count::foreach_elementwise;
  return rule;
}

}  // namespace

std::optional<event::CallWork> operator_work(std::string_view name, const Arguments& arguments) {
  bool in_place = false;
  std::optional<Rule> rule;
  if (const auto found = rules().find(name); found != rules().end())
    rule = found->second;
  else
    rule = elementwise_rule(name, in_place);
  if (!rule) return std::nullopt;
  return rule->work({arguments, in_place, rule->flops_per_element, rule->operands, rule->causal})
      .value_or(event::CallWork());
}

bool is_overhead(std::string_view name) {
  static const auto* const names = new std::unordered_set<std::string_view>{
      // Views and properties of tensors.
      "aten::view", "aten::_unsafe_view", "aten::_reshape_alias", "aten::as_strided", "aten::t", "aten::transpose",
      "aten::transpose_", "aten::permute", "aten::expand", "aten::expand_as", "aten::slice", "aten::select",
      "aten::narrow", "aten::split", "aten::split_with_sizes", "aten::chunk", "aten::unbind", "aten::unflatten",
      "aten::squeeze", "aten::squeeze_", "aten::unsqueeze", "aten::unsqueeze_", "aten::detach", "aten::detach_",
      "aten::alias", "aten::view_as", "aten::view_as_complex", "aten::view_as_real", "aten::real", "aten::imag",
      "aten::resolve_conj", "aten::resolve_neg", "aten::unfold", "aten::flatten", "aten::movedim", "aten::diagonal",
      "aten::result_type", "aten::lift_fresh", "aten::is_nonzero", "aten::item", "aten::_local_scalar_dense",
      "aten::set_", "aten::set_data", "aten::requires_grad_", "aten::record_stream", "aten::_version", "detach",
      "aten::_has_compatible_shallow_copy_type", "aten::swapaxes", "aten::conj", "aten::_conj", "aten::mT", "aten::mH",
      // Operators that call others only if there is something to do.
      "aten::reshape", "aten::reshape_as", "aten::to", "aten::type_as", "aten::contiguous", "aten::dropout",
      "aten::broadcast_to", "aten::ravel", "aten::_to_cpu", "aten::pin_memory",
      // Allocations.
      "aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty", "aten::new_empty_strided",
      "aten::resize_", "aten::resize_as_", "aten::_efficientzerotensor"};
  return names->contains(name);
}

}  // namespace kymo::analysis
