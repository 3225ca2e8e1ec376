// SPDX-License-Identifier: Apache-2.0
// What to run: the words of the command line, and what they leave of paths, element types and kernels.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "case.hpp"

namespace kymo::flash::test {

constexpr int kMostVariants = 64;  ///< numbers below this are tried for Forward::variant and Backward::variant
constexpr const char* kElements[] = {"fp32", "bf16", "fp16"};                   ///< by Element
constexpr const char* kPaths[] = {"automatic", "hopper", "portable", "float"};  ///< by Path

struct Choice {
  int count = 0;                     ///< problems for each path, or timed rounds; 0: the usual number
  int64_t d = 0;                     ///< the one head size to take, or 0 for the usual ones
  std::optional<Element> element{};  ///< the one element type to take
  Path path = Path::kAutomatic;      ///< the one path to take; kAutomatic: all
  bool brief = false;                ///< check: random problems alone
  bool single = false;               ///< bench: one head alone
  /// Parts of the names of kernels that are not run by number, such as "_chained": so that one that hangs does not hide
  /// the others.
  std::vector<std::string> without{};

  bool takes(Element type) const {
    return element.value_or(type) == type &&
           (path == Path::kAutomatic || (path == Path::kFloat) == (type == Element::kFloat32));
  }
  bool takes(Path of, Element type) const { return takes(type) && (path == Path::kAutomatic || path == of); }
  /// Whether a kernel takes the call, and none of `without` says no; calls that leave the choice to the table (-1) are
  /// always run.
  template <class Call>
  bool runs(const Call& call) const {
    const std::string name = kernel_name(call);
    if (call.variant >= 0)
      for (const std::string& part : without)
        if (name.find(part) != std::string::npos) return false;
    return !name.empty();
  }
};

/// A command line that nobody can follow; the text is one line.
struct WrongWord : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The words after check or bench. Throws WrongWord.
Choice read_words(const std::vector<std::string>& words);

/// Whether calls of head size d should go by the kernel of this name: larger ones could serve as well, but never
/// faster.
bool of_size(std::string_view kernel, int64_t d);

/// Both return the exit code and print what they find as they go.
int check(const Choice& choice);
int bench(const Choice& choice);

}  // namespace kymo::flash::test
