// SPDX-License-Identifier: Apache-2.0
#include "transformer/checkpoint.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <kymo/autocast.hpp>
#include <kymo/torch.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

namespace kymo::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// A part with what surrounded it in the forward pass.
struct Recomputation : torch::CustomClassHolder {
  Recomputation(const Context& step_ctx, std::vector<std::string> around, const variable_list& inputs, Part given)
      : ctx(step_ctx),
        scopes(std::move(around)),
        part(std::move(given)),
        autocast(libtorch::enabled_autocast(inputs.front().device().type())) {}

  variable_list run(const variable_list& inputs, bool record_gradients) const {
    const auto phase = ctx.inner_phase("recompute", "backward", libtorch::current_stream(ctx));
    std::vector<std::unique_ptr<Scope>> open;
    for (const std::string& name : scopes)
      open.push_back(std::make_unique<Scope>(ctx.host(), ctx.handle(), name.c_str()));
    std::optional<libtorch::Autocast> mixed;
    if (autocast) mixed.emplace(autocast->device, autocast->dtype);
    const c10::AutoGradMode gradients(record_gradients);
    variable_list results = part(inputs);
    while (!open.empty()) open.pop_back();  // innermost first
    return results;
  }

  Context ctx;
  std::vector<std::string> scopes;
  Part part;
  std::optional<libtorch::EnabledAutocast> autocast;
};

/// The same tensors without their history, for another graph.
variable_list leaves_of(const variable_list& inputs) {
  variable_list leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_(input.requires_grad()));
  return leaves;
}

/// Differentiates what was computed from `leaves`, and returns their gradients.
variable_list gradients_of(const variable_list& results, const variable_list& leaves, const variable_list& gradients) {
  torch::autograd::backward(results, gradients);
  variable_list found;
  for (const at::Tensor& leaf : leaves) found.push_back(leaf.grad());
  return found;
}

constexpr const char* kRecomputation = "recomputation";

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static variable_list forward(AutogradContext* ctx, at::TensorList inputs,
                               const c10::intrusive_ptr<Recomputation>& recomputation) {
    ctx->save_for_backward(inputs.vec());
    ctx->saved_data[kRecomputation] = at::IValue::make_capsule(recomputation);
    return recomputation->part(inputs.vec());
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto capsule = ctx->saved_data[kRecomputation].toCapsule();
    const variable_list leaves = leaves_of(ctx->get_saved_variables());
    const variable_list results = static_cast<const Recomputation&>(*capsule).run(leaves, /*record_gradients=*/true);
    variable_list found = gradients_of(results, leaves, gradients);
    found.emplace_back();  // of the recomputation
    return found;
  }
};

void free_memory(const c10::Storage& storage) {
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(at::DataPtr(nullptr, storage.device()));
}

void delete_storage(void* storage) { delete static_cast<c10::Storage*>(storage); }

/// Lets the storage `to` have the memory of `from`, which lives as long as it does.
void share_memory(const c10::Storage& to, const c10::Storage& from) {
  auto* const owner = new c10::Storage(from);
  to.unsafeGetStorageImpl()->set_data_ptr_noswap(
      at::DataPtr(owner->mutable_data(), owner, &delete_storage, from.device()));
}

}  // namespace

struct DiscardedResult {
  /// Gives the result its values again.
  void restore() {
    if (node) leaves = leaves_of(node->get_saved_variables());
    recomputed = recomputation->run(leaves, /*record_gradients=*/node != nullptr);
    if (storage) share_memory(*storage, recomputed.front().storage());
    if (node) return;
    storage.reset();  // the memory lives as long as autograd keeps the result
    forget();
  }
  void forget() {
    leaves.clear();
    recomputed.clear();
  }

  c10::intrusive_ptr<Recomputation> recomputation;
  AutogradContext* node = nullptr;      // if differentiated: keeps the inputs; lives as long as the graph
  std::optional<c10::Storage> storage;  // of the result, if it is discarded
  variable_list leaves, recomputed;     // while the backward pass needs them; without a node, leaves are the inputs
};

namespace {

struct Held : torch::CustomClassHolder {
  explicit Held(std::shared_ptr<DiscardedResult> held) : result(std::move(held)) {}
  std::shared_ptr<DiscardedResult> result;
};

struct Discard : torch::autograd::Function<Discard> {
  static variable_list forward(AutogradContext* ctx, at::TensorList inputs,
                               const std::shared_ptr<DiscardedResult>& result) {
    ctx->save_for_backward(inputs.vec());
    ctx->saved_data[kRecomputation] = at::IValue::make_capsule(c10::make_intrusive<Held>(result));
    result->node = ctx;
    return result->recomputation->part(inputs.vec());
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto capsule = ctx->saved_data[kRecomputation].toCapsule();
    DiscardedResult& result = *static_cast<const Held&>(*capsule).result;
    if (result.recomputed.empty()) result.restore();  // it was not discarded
    variable_list found = gradients_of(result.recomputed, result.leaves, gradients);
    if (result.storage) free_memory(*result.storage);
    result.forget();
    found.emplace_back();  // of the argument `result`
    return found;
  }
};

}  // namespace

const std::vector<std::string>& checkpoint_names() {
  static const std::vector<std::string> names{"none", "blocks", "nested", "selective"};
  return names;
}

Checkpointing checkpoint_named(std::string_view name) {
  const std::vector<std::string>& names = checkpoint_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    throw std::invalid_argument("unknown checkpointing '" + std::string(name) +
                                "', must be one of none, blocks, nested, selective");
  return static_cast<Checkpointing>(found - names.begin());
}

std::int64_t recomputed_blocks(const CheckpointSetting& setting, std::int64_t blocks) {
  if (setting.kind == Checkpointing::kBlocks) return blocks;
  const std::int64_t half = blocks / 2;
  if (setting.kind != Checkpointing::kNested || half < setting.blocks) return 0;
  return blocks + recomputed_blocks(setting, half) + recomputed_blocks(setting, blocks - half);
}

std::vector<at::Tensor> checkpointed(const Context& ctx, const std::vector<at::Tensor>& inputs, Part part) {
  return Checkpoint::apply(at::TensorList(inputs), c10::make_intrusive<Recomputation>(ctx, std::vector<std::string>{},
                                                                                      inputs, std::move(part)));
}

Discardable::Discardable(const Context& ctx, std::vector<std::string> scopes, const std::vector<at::Tensor>& inputs,
                         Part part)
    : discarded_(std::make_shared<DiscardedResult>()) {
  discarded_->recomputation = c10::make_intrusive<Recomputation>(ctx, std::move(scopes), inputs, std::move(part));
  result_ = Discard::apply(at::TensorList(inputs), discarded_).front();
}

Discardable::Discardable(const Context& ctx, std::vector<std::string> scopes, at::Tensor result,
                         const std::vector<at::Tensor>& inputs, Part part)
    : discarded_(std::make_shared<DiscardedResult>()), result_(std::move(result)) {
  discarded_->recomputation = c10::make_intrusive<Recomputation>(ctx, std::move(scopes), inputs, std::move(part));
  for (const at::Tensor& input : inputs) discarded_->leaves.push_back(input.detach());
}

void Discardable::discard_after(const at::Tensor& user) {
  if (!discarded_ || !user.requires_grad()) return;
  discarded_->storage = result_.storage();
  result_.reset();
  free_memory(*discarded_->storage);
  user.register_hook([discarded = discarded_](const at::Tensor&) { discarded->restore(); });
}

}  // namespace kymo::transformer
