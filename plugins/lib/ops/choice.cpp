// SPDX-License-Identifier: Apache-2.0
// Resolves implementation names for callers that query the choice before a call.
#include "ops/attention.hpp"
#include "ops/kernels.hpp"

namespace kymo::ops {
namespace {

Setting setting_of(const AttentionOptions& options, const at::Tensor& query) {
  return {.causal = options.causal,
          .scale = resolve_scale(options.scale, query.size(-1)),
          .deterministic = options.deterministic};
}

}  // namespace

const std::vector<std::string>& implementation_names() {
  static const std::vector<std::string> names{"auto", "naive", "tiled", "flash"};
  return names;
}

std::string chosen_implementation(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                  const AttentionOptions& options) {
  check_inputs(query, key, value);
  const bool has_heads = query.dim() == 4;
  switch (choose(options.implementation, with_heads(query, has_heads), with_heads(key, has_heads),
                 setting_of(options, query), flash::Direction::kForward)) {
    case Implementation::kNaive:
      return "naive";
    case Implementation::kTiled:
      return "tiled";
    case Implementation::kFlash:
      break;
  }
  return "flash";
}

std::string why_not_flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const AttentionOptions& options) {
  check_inputs(query, key, value);
  const Setting setting = setting_of(options, query);
  const bool has_heads = query.dim() == 4;
  for (const flash::Direction direction : {flash::Direction::kForward, flash::Direction::kBackward})
    if (std::string refusal =
            flash::refusal(with_heads(query, has_heads), with_heads(key, has_heads), setting, direction);
        !refusal.empty())
      return refusal;
  return "";
}

}  // namespace kymo::ops
