// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Arguments of operator calls, as the collector of operators describes them (collect/torch/operator_arguments.hpp).
namespace kymo::analysis {

/// Size in bytes of an element of a type such as `bf16`; 0 for an unknown type.
double element_bytes(std::string_view dtype);

/// A tensor, or all tensors of a list together.
struct TensorArgument {
  std::string dtype;                ///< empty for a list whose types are not recorded
  std::vector<std::int64_t> sizes;  ///< empty for a list
  double elements = 0;
  double bytes = 0;  ///< memory of the elements: expanded dimensions count once; 0 for an unknown type
  bool is_list = false;

  std::size_t dimensions() const { return sizes.size(); }
  /// The size of a dimension, counted from the last one if negative; 0 if there is no such dimension.
  double size(int dimension) const;
};

/// One argument; empty for a missing one and for those that the description omits.
struct Argument {
  std::optional<TensorArgument> tensor;
  std::optional<std::vector<std::int64_t>> integers;  ///< one integer, or a list; booleans are 0 and 1
};

class Arguments {
 public:
  /// Returns nullopt for a truncated or invalid description, and for tensors without concrete sizes.
  static std::optional<Arguments> parse(std::string_view text);

  std::size_t size() const { return all_.size(); }
  /// The tensor at a position of the schema, or nullptr.
  const TensorArgument* tensor(std::size_t position) const;
  /// The integers at a position of the schema, or nullptr.
  const std::vector<std::int64_t>* integers(std::size_t position) const;
  /// The integer or boolean at a position, or `otherwise`.
  std::int64_t integer(std::size_t position, std::int64_t otherwise) const;
  /// All tensors in order.
  std::vector<const TensorArgument*> tensors() const;

 private:
  std::vector<Argument> all_;
};

}  // namespace kymo::analysis
