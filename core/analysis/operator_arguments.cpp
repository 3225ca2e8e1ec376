// SPDX-License-Identifier: Apache-2.0
#include "analysis/operator_arguments.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace kymo::analysis {
namespace {

/// A position in a description. Each function returns false or nullopt at anything unexpected.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool next_is(std::string_view expected) const { return text_.starts_with(expected); }
  bool skip(std::string_view expected) {
    if (!next_is(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::int64_t> integer() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  std::optional<std::int64_t> number() {
    if (skip("true")) return 1;
    if (skip("false")) return 0;
    return integer();
  }
  /// The characters before the next `end`, which is skipped.
  std::optional<std::string_view> until(char end) {
    const std::size_t at = text_.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view found = text_.substr(0, at);
    text_.remove_prefix(at + 1);
    return found;
  }

 private:
  std::string_view text_;
};

bool is_letter_or_digit(char each) { return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9'); }

std::optional<TensorArgument> tensor_of(Scanner& scanner) {
  const auto dtype = scanner.until('[');
  if (!dtype || dtype->empty() || !std::ranges::all_of(*dtype, is_letter_or_digit)) return std::nullopt;
  TensorArgument tensor{std::string(*dtype), {}, 1, 0, false};
  double stored = 1;
  while (!scanner.skip("]")) {
    if (!tensor.sizes.empty() && !scanner.skip(", ")) return std::nullopt;
    const auto size = scanner.integer();
    if (!size) return std::nullopt;
    tensor.sizes.push_back(*size);
    tensor.elements *= static_cast<double>(*size);
    if (!scanner.skip("*")) stored *= static_cast<double>(*size);
  }
  tensor.bytes = stored * element_bytes(tensor.dtype);
  return tensor;
}

/// `148 tensors, 1244 elements, 4976 bytes}`
std::optional<TensorArgument> summary_of(Scanner& scanner) {
  TensorArgument list;
  list.is_list = true;
  if (!scanner.integer() || !scanner.skip(" tensors, ")) return std::nullopt;
  const auto elements = scanner.integer();
  if (!elements || !scanner.skip(" elements, ")) return std::nullopt;
  const auto bytes = scanner.integer();
  if (!bytes || !scanner.skip(" bytes}")) return std::nullopt;
  list.elements = static_cast<double>(*elements);
  list.bytes = static_cast<double>(*bytes);
  return list;
}

std::optional<TensorArgument> list_of(Scanner& scanner) {
  if (Scanner ahead = scanner; ahead.integer()) return summary_of(scanner);
  TensorArgument list;
  list.is_list = true;
  bool first = true;
  while (!scanner.skip("}")) {
    if (!std::exchange(first, false) && !scanner.skip(", ")) return std::nullopt;
    if (scanner.skip("None")) continue;
    const auto tensor = tensor_of(scanner);
    if (!tensor) return std::nullopt;
    list.dtype = tensor->dtype;
    list.elements += tensor->elements;
    list.bytes += tensor->bytes;
  }
  return list;
}

std::optional<std::vector<std::int64_t>> numbers_of(Scanner& scanner) {
  std::vector<std::int64_t> numbers;
  while (!scanner.skip(")")) {
    if (!numbers.empty() && !scanner.skip(", ")) return std::nullopt;
    const auto number = scanner.number();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<Argument> argument_of(Scanner& scanner) {
  Argument argument;
  if (scanner.skip("None") || scanner.skip("_")) return argument;
  if (scanner.skip("{")) {
    argument.tensor = list_of(scanner);
    return argument.tensor ? std::optional(argument) : std::nullopt;
  }
  if (scanner.skip("(")) {
    argument.integers = numbers_of(scanner);
    return argument.integers ? std::optional(argument) : std::nullopt;
  }
  if (const auto number = scanner.number()) {
    argument.integers = {*number};
    return argument;
  }
  argument.tensor = tensor_of(scanner);
  return argument.tensor ? std::optional(argument) : std::nullopt;
}

}  // namespace

double element_bytes(std::string_view dtype) {
  constexpr auto kTypes = std::to_array<std::pair<std::string_view, double>>({{"f32", 4},
                                                                              {"bf16", 2},
                                                                              {"f16", 2},
                                                                              {"i64", 8},
                                                                              {"f64", 8},
                                                                              {"bool", 1},
                                                                              {"i32", 4},
                                                                              {"u8", 1},
                                                                              {"i8", 1},
                                                                              {"i16", 2},
                                                                              {"f8", 1},
                                                                              {"c64", 8},
                                                                              {"c128", 16}});
  for (const auto& [name, bytes] : kTypes)
    if (name == dtype) return bytes;
  return 0;
}

double TensorArgument::size(int dimension) const {
  const auto count = static_cast<int>(sizes.size());
  const int at = dimension < 0 ? dimension + count : dimension;
  return at >= 0 && at < count ? static_cast<double>(sizes[static_cast<std::size_t>(at)]) : 0;
}

std::optional<Arguments> Arguments::parse(std::string_view text) {
  Arguments result;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    if (!result.all_.empty() && !scanner.skip(" ")) return std::nullopt;
    auto argument = argument_of(scanner);
    if (!argument) return std::nullopt;
    result.all_.push_back(std::move(*argument));
  }
  return result;
}

const TensorArgument* Arguments::tensor(std::size_t position) const {
  return position < all_.size() && all_[position].tensor ? &*all_[position].tensor : nullptr;
}

const std::vector<std::int64_t>* Arguments::integers(std::size_t position) const {
  return position < all_.size() && all_[position].integers ? &*all_[position].integers : nullptr;
}

std::int64_t Arguments::integer(std::size_t position, std::int64_t otherwise) const {
  const auto* const found = integers(position);
  return found && found->size() == 1 ? found->front() : otherwise;
}

std::vector<const TensorArgument*> Arguments::tensors() const {
  std::vector<const TensorArgument*> result;
  for (const Argument& argument : all_)
    if (argument.tensor) result.push_back(&*argument.tensor);
  return result;
}

}  // namespace kymo::analysis
