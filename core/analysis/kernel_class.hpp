// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::analysis {

/// Says what kind of kernel a name is, by the first pattern that the name contains (letters of either case are alike).
/// Classes: matmul, softmax, elementwise, reduction, attention, normalisation, optimizer, communication, copy, memset,
/// other. A kernel that finishes a matrix product (the sum over a split K) is matmul; fused attention is attention, its
/// products included; foreach kernels are optimizer; losses, scans and sorts are reduction; gathering, scattering and
/// copying by a kernel is elementwise, so that copy is what the copy engines do.
class Classifier {
 public:
  struct Pattern {
    std::string text;  ///< part of a demangled name
    std::string kernel_class;
  };
  /// The patterns that kymo knows.
  Classifier();
  /// Those of a TOML file go before them: [[pattern]] tables with `contains` and `class`. Throws UsageError naming
  /// file, line and what would be right: an unknown class, an empty pattern, a file that is no TOML.
  static Classifier with_file(const std::filesystem::path& file);

  const std::string& class_of(std::string_view name) const;

 private:
  std::vector<Pattern> patterns_;
};

/// A demangled kernel name without return type, namespaces, template arguments and parameters: "void at::native::foo<4,
/// float>(int)" is "foo". Names that are mostly one generic template are told apart by what their arguments name:
/// "elementwise add", "reduce sum". At most 60 bytes: longer names, as those of matrix products, lose words that tell
/// little, and then their middle. For people to read, not to compare: different kernels may share one.
std::string short_kernel_name(std::string_view name);

}  // namespace kymo::analysis
