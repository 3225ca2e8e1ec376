// SPDX-License-Identifier: Apache-2.0
// Selection of what to run: command-line arguments and the resulting paths, element types and kernels.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "case.hpp"

namespace kymo::flash::test {

constexpr int kMaxVariants =
    64;  ///< variants 0 to kMaxVariants - 1 are tried for Forward::variant and Backward::variant
constexpr const char* kElements[] = {"fp32", "bf16", "fp16"};                   ///< by Element
constexpr const char* kPaths[] = {"automatic", "hopper", "portable", "float"};  ///< by Path

struct Choice {
  int count = 0;                     ///< problems per path, or timed rounds; 0: default
  int64_t d = 0;                     ///< only this head size, or 0 for the default ones
  std::optional<Element> element{};  ///< only this element type
  Path path = Path::kAutomatic;      ///< only this path; kAutomatic: all
  bool brief = false;                ///< check: random problems only
  bool single = false;               ///< bench: a single head
  bool decode = false;               ///< bench: one query with grouped heads
  /// Excludes kernels whose name contains one of these strings, such as "_pipelined", from runs by number, so that a
  /// kernel that hangs does not hide the others.
  std::vector<std::string> without{};

  bool takes(Element type) const {
    return element.value_or(type) == type &&
           (path == Path::kAutomatic || (path == Path::kFloat) == (type == Element::kFloat32));
  }
  bool takes(Path of, Element type) const { return takes(type) && (path == Path::kAutomatic || path == of); }
  /// Returns true if a kernel supports the call and is not excluded by `without`. Calls that use the dispatch table
  /// (-1) always run.
  template <class Call>
  bool runs(const Call& call) const {
    const std::string name = kernel_name(call);
    if (call.variant >= 0)
      for (const std::string& part : without)
        if (name.find(part) != std::string::npos) return false;
    return !name.empty();
  }
};

/// Invalid command line; the message is one line.
struct WrongWord : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Parses the arguments after check or bench. Throws WrongWord.
Choice read_words(const std::vector<std::string>& words);

/// Returns true if calls with head size d should use the kernel with this name. Kernels for larger sizes support the
/// call but are never faster.
bool of_size(std::string_view kernel, int64_t d);

/// Both functions print results as they run and return the exit code.
int check(const Choice& choice);
int bench(const Choice& choice);

}  // namespace kymo::flash::test
