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

const std::unordered_map<std::string_view, Rule>& elementwise_rules() {
  static const auto* const rules = [] {
    auto* const table = new std::unordered_map<std::string_view, Rule>;
    const auto add = [&](Rule rule, std::initializer_list<const char*> names) {
      for (const char* name : names) table->emplace(name, rule);
    };
    add({count::elementwise, 1, 2}, {"add", "sub", "rsub", "pow", "maximum", "minimum", "fmod", "remainder",
                                     "floor_divide", "atan2", "threshold_backward", "hardtanh_backward"});
    add({count::elementwise, 1, 1},
        {"neg",        "abs",      "exp",       "exp2",  "expm1", "log",   "log2",   "log10", "log1p", "sqrt",
         "reciprocal", "sin",      "cos",       "tan",   "tanh",  "erf",   "square", "relu",  "clamp", "clamp_min",
         "clamp_max",  "hardtanh", "threshold", "floor", "ceil",  "round", "trunc",  "sign"});
    add({count::multiplication, 1, 2}, {"mul", "div"});
    add({count::elementwise, 2, 1}, {"rsqrt", "leaky_relu"});
    add({count::elementwise, 2, 2}, {"leaky_relu_backward", "native_dropout_backward"});
    add({count::elementwise, 3, 2}, {"sigmoid_backward", "tanh_backward", "mse_loss"});
    add({count::elementwise, 3, 3}, {"addcmul", "addcdiv", "lerp"});
    add({count::elementwise, 4, 1}, {"sigmoid"});
    add({count::elementwise, 5, 1}, {"silu", "gelu"});
    add({count::elementwise, 4, 1}, {"softplus", "elu", "hardswish", "hardsigmoid"});
    add({count::elementwise, 9, 2}, {"silu_backward"});
    add({count::elementwise, 11, 2}, {"gelu_backward"});
    add({count::elementwise, 0, 1}, {"bitwise_not", "logical_not", "tril", "triu"});
    add({count::elementwise, 0, 2}, {"masked_fill", "bitwise_and", "bitwise_or", "bitwise_xor"});
    add({count::elementwise, 0, 3}, {"where"});
    add({count::comparison, 0, 2}, {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"});
    add({count::comparison, 0, 1}, {"isnan", "isinf", "isfinite"});
    return table;
  }();
  return *rules;
}

const std::unordered_map<std::string_view, Rule>& rules() {
  static const auto* const all = new std::unordered_map<std::string_view, Rule>{
      {"aten::mm", {count::plain_product}},
      {"aten::bmm", {count::plain_product}},
      {"aten::mv", {count::plain_product}},
      {"aten::dot", {count::plain_product}},
      {"aten::_int_mm", {count::plain_product}},
      {"aten::_scaled_mm", {count::plain_product}},
      {"aten::addmm", {count::added_product}},
      {"aten::addmm_", {count::added_product}},
      {"aten::_addmm_activation", {count::added_product}},
      {"aten::addmv", {count::added_product}},
      {"aten::addbmm", {count::added_product}},
      {"aten::baddbmm", {count::added_product}},
      {"aten::baddbmm_", {count::added_product}},
      {"mkldnn::_linear_pointwise", {count::linear}},
      {"aten::mkldnn_linear", {count::linear}},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", {count::attention_forward, 0, 0, 4}},
      {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", {count::attention_backward, 0, 0, 7}},
      {"aten::_scaled_dot_product_flash_attention", {count::attention_forward, 0, 0, 4}},
      {"aten::_scaled_dot_product_flash_attention_backward", {count::attention_backward, 0, 0, 11}},
      {"aten::_scaled_dot_product_efficient_attention", {count::attention_forward, 0, 0, 6}},
      {"aten::_scaled_dot_product_efficient_attention_backward", {count::attention_backward, 0, 0, 11}},
      {"aten::_scaled_dot_product_cudnn_attention", {count::attention_forward, 0, 0, 6}},
      {"aten::_scaled_dot_product_cudnn_attention_backward", {count::attention_backward, 0, 0, 14}},
      {"aten::convolution", {count::convolution}},
      {"aten::_convolution", {count::convolution}},
      {"aten::convolution_backward", {count::convolution_backward}},
      // Mean 1, variance 3, difference and quotient 2, scale and shift 2.
      {"aten::native_layer_norm", {count::normalization, 8}},
      {"aten::native_group_norm", {count::normalization, 8}},
      {"aten::native_batch_norm", {count::normalization, 8}},
      {"aten::cudnn_batch_norm", {count::normalization, 8}},
      {"aten::native_layer_norm_backward", {count::normalization_backward, 14}},
      {"aten::native_group_norm_backward", {count::normalization_backward, 14}},
      {"aten::native_batch_norm_backward", {count::normalization_backward, 14}},
      {"aten::cudnn_batch_norm_backward", {count::normalization_backward, 14}},
      // Mean square 2, quotient 1, scale 1.
      {"aten::_fused_rms_norm", {count::normalization, 4}},
      {"aten::_fused_rms_norm_backward", {count::normalization_backward, 9}},
      {"aten::_softmax", {count::softmax, 5}},
      {"aten::_safe_softmax", {count::softmax, 5}},
      {"aten::_log_softmax", {count::softmax, 5}},
      {"aten::_softmax_backward_data", {count::softmax, 4}},
      {"aten::_log_softmax_backward_data", {count::softmax, 4}},
      {"aten::native_dropout", {count::dropout, 2}},
      {"aten::sum", {count::reduction, 1}},
      {"aten::nansum", {count::reduction, 1}},
      {"aten::mean", {count::reduction, 1}},
      {"aten::prod", {count::reduction, 1}},
      {"aten::amax", {count::reduction, 1}},
      {"aten::amin", {count::reduction, 1}},
      {"aten::max", {count::reduction, 1}},
      {"aten::min", {count::reduction, 1}},
      {"aten::argmax", {count::reduction, 1}},
      {"aten::argmin", {count::reduction, 1}},
      {"aten::any", {count::reduction, 0}},
      {"aten::all", {count::reduction, 0}},
      {"aten::norm", {count::reduction, 2}},
      {"aten::linalg_vector_norm", {count::reduction, 2}},
      {"aten::logsumexp", {count::reduction, 4}},
      {"aten::var", {count::reduction, 4}},
      {"aten::std", {count::reduction, 4}},
      {"aten::var_mean", {count::reduction, 4}},
      {"aten::cumsum", {count::scan, 1}},
      {"aten::cumprod", {count::scan, 1}},
      {"aten::max_pool2d_with_indices", {count::max_pool, 0, 2}},
      {"aten::max_pool3d_with_indices", {count::max_pool, 0, 3}},
      {"aten::max_pool2d_with_indices_backward", {count::max_pool_backward, 0, 2}},
      {"aten::max_pool3d_with_indices_backward", {count::max_pool_backward, 0, 3}},
      {"aten::avg_pool2d", {count::average_pool, 0, 2}},
      {"aten::avg_pool3d", {count::average_pool, 0, 3}},
      {"aten::avg_pool2d_backward", {count::average_pool_backward, 0, 2}},
      {"aten::avg_pool3d_backward", {count::average_pool_backward, 0, 3}},
      {"aten::_adaptive_avg_pool2d", {count::adaptive_pool}},
      {"aten::_adaptive_avg_pool3d", {count::adaptive_pool}},
      {"aten::_adaptive_avg_pool2d_backward", {count::adaptive_pool_backward}},
      {"aten::_adaptive_avg_pool3d_backward", {count::adaptive_pool_backward}},
      {"aten::sort", {count::sort}},
      {"aten::topk", {count::top_elements}},
      {"aten::copy_", {count::copy_to}},
      {"aten::_foreach_copy_", {count::copy_to}},
      {"aten::_to_copy", {count::convert}},
      {"aten::clone", {count::copy}},
      {"aten::cat", {count::copy}},
      {"aten::stack", {count::copy}},
      {"aten::flip", {count::copy}},
      {"aten::roll", {count::copy}},
      {"aten::fill_", {count::overwrite}},
      {"aten::zero_", {count::overwrite}},
      {"aten::_foreach_zero_", {count::overwrite}},
      {"aten::normal_", {count::overwrite}},
      {"aten::uniform_", {count::overwrite}},
      {"aten::bernoulli_", {count::overwrite}},
      {"aten::random_", {count::overwrite}},
      {"aten::exponential_", {count::overwrite}},
      {"aten::embedding", {count::embedding}},
      {"aten::embedding_dense_backward", {count::embedding_backward}},
      {"aten::index_select", {count::index_select}},
      {"aten::gather", {count::gather}},
      {"aten::scatter_", {count::scatter, 0}},
      {"aten::scatter_add_", {count::scatter, 1}},
      {"aten::nll_loss_forward", {count::nll_loss}},
      {"aten::nll_loss2d_forward", {count::nll_loss}},
      {"aten::nll_loss_backward", {count::nll_loss_backward}},
      {"aten::nll_loss2d_backward", {count::nll_loss_backward}},
      // Decay 1, mean 3, square mean 4, denominator 3, update 3.
      {"aten::_fused_adamw_", {count::update, 14, 4}},
      {"aten::_fused_adam_", {count::update, 14, 4}},
      {"aten::_fused_sgd_", {count::update, 4, 3}},
      {"aten::_foreach_norm", {count::reduction, 2}},
      {"c10d::allreduce_", {count::collective}},
      {"c10d::broadcast_", {count::collective}},
      {"c10d::reduce_", {count::collective}},
      {"c10d::allgather_", {count::collective}},
      {"c10d::_allgather_base_", {count::collective}},
      {"c10d::reduce_scatter_", {count::collective}},
      {"c10d::_reduce_scatter_base_", {count::collective}},
      {"_c10d_functional::all_reduce", {count::collective}},
      {"_c10d_functional::all_gather_into_tensor", {count::collective}},
      {"_c10d_functional::reduce_scatter_tensor", {count::collective}},
  };
  return *all;
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
