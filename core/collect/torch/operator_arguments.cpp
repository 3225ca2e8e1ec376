// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/operator_arguments.hpp"

#include <ATen/core/Tensor.h>

#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace kymo::collect {
std::string_view dtype_name(at::ScalarType type) noexcept {
  switch (type) {
    case at::kFloat:
      return "f32";
    case at::kBFloat16:
      return "bf16";
    case at::kHalf:
      return "f16";
    case at::kDouble:
      return "f64";
    case at::kLong:
      return "i64";
    case at::kInt:
      return "i32";
    case at::kShort:
      return "i16";
    case at::kChar:
      return "i8";
    case at::kByte:
      return "u8";
    case at::kBool:
      return "bool";
    case at::kComplexFloat:
      return "c64";
    case at::kComplexDouble:
      return "c128";
    case at::kFloat8_e4m3fn:
    case at::kFloat8_e5m2:
      return "f8";
    default:
      return "other";
  }
}

namespace {

constexpr std::size_t kMaxCharacters = 400;
constexpr std::size_t kMaxListedTensors = 4;

void append_integer(std::string& text, std::int64_t value) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  text.append(digits, end);
}

bool has_sizes(const at::Tensor& tensor) {
  return !tensor.is_nested() && !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

void append_tensor(std::string& text, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    text += "None";
    return;
  }
  if (!has_sizes(tensor)) {
    text += '?';
    return;
  }
  text += dtype_name(tensor.scalar_type());
  text += '[';
  const bool is_strided = tensor.layout() == at::kStrided;
  const at::IntArrayRef sizes = tensor.sizes();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += ", ";
    append_integer(text, sizes[i]);
    if (is_strided && sizes[i] > 1 && tensor.stride(static_cast<std::int64_t>(i)) == 0) text += '*';
  }
  text += ']';
}

void append_tensors(std::string& text, c10::ArrayRef<c10::IValue> list) {
  text += '{';
  if (list.size() <= kMaxListedTensors) {
    const char* separator = "";
    for (const c10::IValue& each : list) {
      text += separator;
      append_tensor(text, each.isTensor() ? each.toTensor() : at::Tensor());
      separator = ", ";
    }
  } else {
    std::int64_t elements = 0, bytes = 0;
    for (const c10::IValue& each : list) {
      if (!each.isTensor() || !each.toTensor().defined() || !has_sizes(each.toTensor())) continue;
      elements += each.toTensor().numel();
      bytes += static_cast<std::int64_t>(each.toTensor().nbytes());
    }
    append_integer(text, static_cast<std::int64_t>(list.size()));
    text += " tensors, ";
    append_integer(text, elements);
    text += " elements, ";
    append_integer(text, bytes);
    text += " bytes";
  }
  text += '}';
}

bool is_number(const c10::IValue& value) { return value.isInt() || value.isBool(); }

void append_number(std::string& text, const c10::IValue& value) {
  if (value.isBool())
    text += value.toBool() ? "true" : "false";
  else
    append_integer(text, value.toInt());
}

void append_numbers(std::string& text, c10::ArrayRef<c10::IValue> list) {
  text += '(';
  const char* separator = "";
  for (const c10::IValue& each : list) {
    text += separator;
    append_number(text, each);
    separator = ", ";
  }
  text += ')';
}

/// Returns false for a value that is not part of the format.
bool append(std::string& text, const c10::IValue& value) {
  if (value.isTensor())
    append_tensor(text, value.toTensor());
  else if (value.isNone())
    text += "None";
  else if (is_number(value))
    append_number(text, value);
  else if (value.isTensorList() || value.isOptionalTensorList())
    append_tensors(text, value.toListRef());
  else if (value.isIntList() || value.isBoolList())
    append_numbers(text, value.toListRef());
  else
    return false;
  return true;
}

}  // namespace

void describe_arguments(c10::ArrayRef<const c10::IValue> inputs, std::string& text) {
  text.clear();
  std::size_t end = 0;  // behind the last argument that is part of the format
  for (const c10::IValue& input : inputs) {
    if (text.size() > kMaxCharacters) {
      text += " ...";
      return;
    }
    if (&input != inputs.begin()) text += ' ';
    if (append(text, input))
      end = text.size();
    else
      text += '_';
  }
  text.resize(end);
}

}  // namespace kymo::collect
