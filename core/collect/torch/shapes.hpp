// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace kymo::collect {

/// Returns the shapes of an operator's input tensors, including those in lists, as "[4, 256] [256]"; [] is a scalar.
/// Inputs that are not tensors and tensors without concrete sizes are omitted. Limited to a few hundred characters;
/// "..." replaces the rest.
std::string shapes_of(c10::ArrayRef<const c10::IValue> inputs);

}  // namespace kymo::collect
