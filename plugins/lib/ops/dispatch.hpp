// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace kymo::ops {

/// The operator with this name. All calls, including those of a backward pass, go through the dispatcher: under
/// torch.compile, tensors have no storage, and only dispatched operators can be traced.
template <class Signature>
auto operator_named(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace kymo::ops
