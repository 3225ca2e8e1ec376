// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>

#include <optional>

namespace kymo::ops {

/// The operator with this name. All calls, including those of a backward pass, go through the dispatcher: under
/// torch.compile, tensors have no storage, and only dispatched operators can be traced.
template <class Signature>
auto operator_named(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

/// While it exists, operators that this thread calls skip autograd, unless gradients are recorded. For backward passes,
/// whose operators are not differentiable: autograd's fallback for these takes 3 µs per call.
class SkipAutogradInBackward {
 public:
  SkipAutogradInBackward() {
    if (!at::GradMode::is_enabled()) below_autograd_.emplace();
  }

 private:
  std::optional<at::AutoDispatchBelowADInplaceOrView> below_autograd_;
};

}  // namespace kymo::ops
