// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::analysis {

/// Classifies kernels by the first pattern that occurs in their name, ignoring case. Classes: matmul, softmax,
/// elementwise, reduction, attention, normalization, optimizer, communication, copy, memset, other. Kernels that finish
/// a matrix product (split-K reductions) are matmul; fused attention including its products is attention; foreach
/// kernels are optimizer; losses, scans and sorts are reduction; gather, scatter and copy kernels are elementwise, so
/// that copy only contains transfers by the copy engines.
class Classifier {
 public:
  struct Pattern {
    std::string text;  ///< substring of a demangled name
    std::string kernel_class;
  };
  /// Uses the built-in patterns.
  Classifier();
  /// Adds the patterns of a TOML file before the built-in ones: [[pattern]] tables with `contains` and `class`. Throws
  /// UsageError with file, line and the expected value for an unknown class, an empty pattern or invalid TOML.
  static Classifier with_file(const std::filesystem::path& file);

  const std::string& class_of(std::string_view name) const;

 private:
  std::vector<Pattern> patterns_;
};

/// Returns a demangled kernel name without return type, namespaces, template arguments and parameters: "void
/// at::native::foo<4, float>(int)" becomes "foo". Instances of generic templates are named by the operations in their
/// arguments: "elementwise add", "reduce sum". At most 60 bytes: longer names, such as those of matrix products, first
/// lose uninformative words and then their middle. For display only: different kernels may have the same short name.
std::string short_kernel_name(std::string_view name);

}  // namespace kymo::analysis
