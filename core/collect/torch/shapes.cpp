// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/shapes.hpp"

#include <ATen/core/Tensor.h>

namespace kymo::collect {
namespace {

// Limit for operators that take all parameters of a model, which would otherwise fill the log.
constexpr std::size_t kMaxCharacters = 400;

/// Returns false if the limit is reached.
bool append(std::string& text, const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_nested() || tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
    return true;
  if (text.size() > kMaxCharacters) {
    text += " ...";
    return false;
  }
  text += text.empty() ? "[" : " [";
  const char* separator = "";
  for (const std::int64_t size : tensor.sizes()) {
    text += separator + std::to_string(size);
    separator = ", ";
  }
  text += ']';
  return true;
}

bool append(std::string& text, const c10::IValue& input) {
  if (input.isTensor()) return append(text, input.toTensor());
  if (input.isTensorList()) {
    for (const at::Tensor& tensor : input.toTensorVector())
      if (!append(text, tensor)) return false;
  } else if (input.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : input.toOptionalTensorList())
      if (tensor && !append(text, *tensor)) return false;
  }
  return true;
}

}  // namespace

std::string shapes_of(c10::ArrayRef<const c10::IValue> inputs) {
  std::string text;
  for (const c10::IValue& input : inputs)
    if (!append(text, input)) break;
  return text;
}

}  // namespace kymo::collect
