// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <string>
#include <string_view>

namespace kymo::collect {

/// The short name of a type: f32, bf16, i64 ...; `other` for rare ones.
std::string_view dtype_name(at::ScalarType type) noexcept;

/// Replaces `text` by the arguments of an operator call in the order of its schema, separated by spaces: a tensor as
/// `bf16[4, 256]` (`f32[]` is a scalar; a dimension that is expanded, with a stride of 0, as `256*`), a list of up to
/// four tensors as `{f32[4], f32[4]}` and a longer one as `{148 tensors, 1244 elements, 4976 bytes}`, integers,
/// `true` and `false`, lists of these as `(1, 1)`, a missing argument as `None`, and a tensor without concrete sizes as
/// `?`. Everything else, such as a floating-point number, is `_`; those at the end are omitted. Limited to a few
/// hundred characters; `...` replaces the rest. analysis/operator_work.hpp reads this format.
void describe_arguments(c10::ArrayRef<const c10::IValue> inputs, std::string& text);

}  // namespace kymo::collect
