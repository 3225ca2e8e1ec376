// SPDX-License-Identifier: Apache-2.0
#include "unit/ops/attention_case.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "ops/attention.hpp"

namespace kymo::ops::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A tensor [batch, heads, length, d] of normally distributed values with the case's memory layout.
at::Tensor position(const at::Tensor& numbers, Lying lying) {
  if (lying == Lying::kTokensFirst) return numbers.transpose(1, 2).contiguous().transpose(1, 2);
  if (lying == Lying::kContiguous) return numbers.contiguous();
  const std::int64_t width = numbers.size(3);
  at::Tensor wide = at::empty({numbers.size(0), numbers.size(2), numbers.size(1), 3 * width}, numbers.options());
  at::Tensor part = wide.narrow(3, width, width).transpose(1, 2);
  part.copy_(numbers);
  return part;
}

/// Whether query i sees key j.
at::Tensor visible(const Case& made, const at::Tensor& like) {
  const auto mask =
      at::ones({made.query_length, made.key_length}, like.options().dtype(at::kBool).requires_grad(false));
  return made.causal ? mask.tril(made.key_length - made.query_length) : mask;
}

at::Tensor four_dimensions(const at::Tensor& tensor) { return tensor.dim() == 4 ? tensor : tensor.unsqueeze(1); }

at::Tensor leaf(const at::Tensor& tensor, bool needs_gradient) {
  return tensor.detach().requires_grad_(needs_gradient);
}

template <class Function>
Results with_gradients(const Case& made, const Inputs& inputs, const Function& function) {
  const bool wanted = made.has_gradients();
  const at::Tensor query = leaf(inputs.query, wanted), key = leaf(inputs.key, wanted),
                   value = leaf(inputs.value, wanted);
  Results results;
  const at::Tensor output = function(query, key, value);
  results.output = output.detach();
  if (!wanted) return results;
  output.backward(inputs.output_gradient.view_as(output));
  results.query_gradient = query.grad();
  results.key_gradient = key.grad();
  results.value_gradient = value.grad();
  return results;
}

}  // namespace

double Case::resolved_scale() const { return scale.value_or(1 / std::sqrt(static_cast<double>(width))); }

std::string Case::text() const {
  std::ostringstream out;
  out << "batch " << batch << ", heads " << heads << "/" << key_heads << ", lengths " << query_length << "/"
      << key_length << ", d " << width << (causal ? ", causal" : "") << (with_heads ? "" : ", three dimensions")
      << ", lying " << static_cast<int>(lying) << ", values " << static_cast<int>(values) << ", scale "
      << resolved_scale() << ", seed " << seed;
  return out.str();
}

Case random_case(std::uint64_t number, std::int64_t longest) {
  std::mt19937_64 engine(number + 1);
  const auto from = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low + 1));
  };
  Case made;
  made.seed = number;
  made.batch = from(1, 3);
  made.with_heads = from(0, 5) != 0;
  made.key_heads = made.with_heads ? from(1, 3) : 1;
  made.heads = made.with_heads ? made.key_heads * from(1, 3) : 1;
  // Short sequences are as likely as long ones: many errors occur only in a first or last tile.
  made.query_length = from(1, from(0, 1) != 0 ? longest : 1 + longest / 8);
  made.key_length = from(0, 1) != 0 ? made.query_length : from(1, longest);
  made.width = 8 * (from(0, 2) != 0 ? from(2, 16) : from(2, 32));
  made.causal = from(0, 1) != 0;
  made.lying = static_cast<Lying>(from(0, 2));
  if (from(0, 3) == 0) made.scale = 0.01 * static_cast<double>(from(1, 60));
  const std::int64_t values = from(0, 9);
  if (values > 6) made.values = static_cast<Values>(values - 6);
  return made;
}

Inputs draw(const Case& made, at::ScalarType dtype, const at::Device& device) {
  at::Generator generator = at::detail::createCPUGenerator(made.seed);
  const auto normal = [&](std::int64_t heads, std::int64_t length) {
    return at::empty({made.batch, heads, length, made.width}, at::kDouble).normal_(0, 1, generator);
  };
  at::Tensor query = normal(made.heads, made.query_length), key = normal(made.key_heads, made.key_length);
  const at::Tensor value = normal(made.key_heads, made.key_length), gradient = normal(made.heads, made.query_length);
  if (made.values == Values::kLarge) {
    query.mul_(20);
    key.mul_(20);
  } else if (made.values == Values::kSpread) {
    key.mul_(at::empty({made.batch, made.key_heads, made.key_length, 1}, at::kDouble)
                 .uniform_(-3, 3, generator)
                 .exp_()
                 .pow_(2));
  } else if (made.values == Values::kMinusInfinity) {
    query.select(3, 0).abs_().add_(0.5);  // above 0, so that −∞ in the key makes the score −∞
    const at::Tensor drawn =
        at::empty({made.batch, made.key_heads, made.key_length}, at::kDouble).uniform_(0, 1, generator);
    key.select(3, 0).masked_fill_(drawn < 0.3, -kInfinity);
    key.select(0, made.batch - 1).select(2, 0).fill_(-kInfinity);
  }
  const auto finish = [&](const at::Tensor& numbers) {
    const at::Tensor placed = position(numbers.to(device, dtype), made.lying);
    return made.with_heads ? placed : placed.squeeze(1);
  };
  return {finish(query), finish(key), finish(value), finish(gradient)};
}

Results reference(const Case& made, const Inputs& inputs) {
  const c10::NoGradGuard no_gradients;
  const auto exact = [](const at::Tensor& tensor) { return four_dimensions(tensor).to(at::kDouble); };
  const std::int64_t group = made.heads / made.key_heads;
  const at::Tensor query = exact(inputs.query), gradient = exact(inputs.output_gradient);
  const at::Tensor key = exact(inputs.key).repeat_interleave(group, 1),
                   value = exact(inputs.value).repeat_interleave(group, 1);
  const double scale = made.resolved_scale();
  const at::Tensor scores = at::where(visible(made, query), query.matmul(key.mT()) * scale, -kInfinity);
  Results results;
  results.log_sum_exp = at::logsumexp(scores, -1);
  const at::Tensor finite = results.log_sum_exp.masked_fill(results.log_sum_exp == -kInfinity, 0).unsqueeze(-1);
  const at::Tensor weights = (scores - finite).exp();
  results.output = weights.matmul(value);
  if (made.has_gradients()) {
    const at::Tensor weight_gradient = gradient.matmul(value.mT());
    const at::Tensor score_gradient =
        weights * (weight_gradient - (weights * weight_gradient).sum(-1, /*keepdim=*/true)) * scale;
    const auto summed = [&](const at::Tensor& tensor) {
      return tensor.view({made.batch, made.key_heads, group, made.key_length, made.width})
          .sum(2)
          .view(inputs.key.sizes());
    };
    results.query_gradient = score_gradient.matmul(key).view(inputs.query.sizes());
    results.key_gradient = summed(score_gradient.mT().matmul(query));
    results.value_gradient = summed(weights.mT().matmul(gradient));
  }
  results.output = results.output.view(inputs.query.sizes());
  results.log_sum_exp = results.log_sum_exp.view(inputs.query.sizes().slice(0, inputs.query.dim() - 1));
  return results;
}

Results from_operators(const Case& made, const Inputs& inputs, const std::string& implementation, bool deterministic) {
  const AttentionOptions options{
      .causal = made.causal, .scale = made.scale, .implementation = implementation, .deterministic = deterministic};
  Results results =
      with_gradients(made, inputs, [&](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
        return attention(query, key, value, options);
      });
  results.log_sum_exp = std::get<1>(attention_forward(inputs.query, inputs.key, inputs.value, options));
  return results;
}

Results from_libtorch(const Case& made, const Inputs& inputs) {
  const at::ScalarType dtype = inputs.query.scalar_type();
  const bool flash = inputs.query.is_cuda() && (dtype == at::kBFloat16 || dtype == at::kHalf);
  return with_gradients(made, inputs, [&](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
    const at::Tensor q = four_dimensions(query), k = four_dimensions(key), v = four_dimensions(value);
    // When called directly, this kernel aligns causal masks bottom-right, like the operators.
    if (flash)
      return std::get<0>(
          at::_scaled_dot_product_flash_attention(q, k, v, 0.0, made.causal, false, made.resolved_scale()));
    return at::scaled_dot_product_attention(q, k, v, visible(made, q), 0.0, false, made.resolved_scale(),
                                            made.heads != made.key_heads);
  });
}

}  // namespace kymo::ops::testing
