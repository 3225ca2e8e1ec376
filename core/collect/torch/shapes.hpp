// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace kymo::collect {

/// Shapes of the tensors among the inputs of an operator, those in lists included, as "[4, 256] [256]"; [] is a scalar.
/// What is no tensor is left out, as are tensors without plain sizes. At most some hundred characters; "..." stands for
/// the rest.
std::string shapes_of(c10::ArrayRef<const c10::IValue> inputs);

}  // namespace kymo::collect
