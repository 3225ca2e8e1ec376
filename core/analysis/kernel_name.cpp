// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/kernel_class.hpp"
#include "base/text.hpp"

namespace kymo::analysis {
namespace {

constexpr std::size_t kLongest = 60;
constexpr std::string_view kAnonymous = "(anonymous namespace)";

/// The last component of a demangled function name.
struct Component {
  std::string scope;      ///< enclosing namespace or class
  std::string base;       ///< name
  std::string arguments;  ///< template arguments
};

bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_anonymous(std::string_view name) {
  std::string plain(name);
  for (std::size_t at = plain.find(kAnonymous); at != std::string::npos; at = plain.find(kAnonymous, at))
    plain.erase(at, kAnonymous.size());
  return plain;
}

/// Parses a name up to its parameters: "void a::b<4, c>(int)" gives a, b and "4, c".
Component last_component(const std::string& name) {
  Component result;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (depth == 0 && c == '(') break;
    if (depth == 0 && c == ' ') {
      result = {};
    } else if (depth == 0 && c == ':') {
      if (!result.base.empty()) result = {result.base, "", ""};
    } else if (opens(c)) {
      if (depth++ > 0) result.arguments += c;
    } else if (closes(c)) {
      if (depth > 0 && --depth > 0) result.arguments += c;
    } else {
      (depth > 0 ? result.arguments : result.base) += c;
    }
  }
  return result;
}

/// Words in template arguments that do not identify the operation: types, wrappers, implementation details.
constexpr std::string_view kMachinery =
    " at native std c10 cuda detail array char float double int long short bool unsigned signed const ul void true "
    "false BFloat16 Half complex anonymous namespace lambda operator templates memory ReduceOp func_wrapper_t "
    "binary_internal BinaryFunctor AUnaryFunctor BUnaryFunctor gpu_kernel gpu_kernel_impl gpu_kernel_impl_nocast "
    "gpu_index_kernel TensorIterator TensorIteratorBase TensorInfo OpaqueType TensorListMetadata "
    "TensorListScalarListMetadata FusedOptimizerTensorListMetadata CUDAGeneratorImpl uint4 ulonglong2 double2 float4 "
    "TrivialOffsetCalculator OffsetCalculator opmath_symmetric_gpu_kernel_with_scalars opmath_gpu_kernel_with_scalars "
    "foreach_internal __nv_hdl_wrapper_t __nv_dl_wrapper_t __nv_dl_tag __nv_dl_trailing_return_tag ";

bool is_machinery(std::string_view word) {
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) != 0) return true;
  if (word.rfind("_GLOBAL__N_", 0) == 0 || word.rfind("_internal_", 0) == 0)
    return true;  // nvcc's names of anonymous namespaces
  return kMachinery.find(' ' + std::string(word) + ' ') != std::string_view::npos;
}

/// Returns the words that identify operations, in order.
std::vector<std::string> significant_words(std::string_view arguments) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < arguments.size();) {
    std::size_t end = i;
    while (end < arguments.size() && is_word(arguments[end])) ++end;
    const std::string_view word = arguments.substr(i, end - i);
    if (!is_machinery(word)) words.emplace_back(word);
    i = std::max(end, i + 1);
  }
  return words;
}

void drop_prefix(std::string& word, std::string_view prefix) {
  if (word.size() > prefix.size() && word.rfind(prefix, 0) == 0) word.erase(0, prefix.size());
}

bool drop_suffix(std::string& word, std::string_view suffix) {
  if (word.size() <= suffix.size() || word.compare(word.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  word.erase(word.size() - suffix.size());
  return true;
}

/// Converts a name to snake case: GeluBackward becomes gelu_backward.
std::string snake_case(const std::string& word) {
  std::string result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto c = static_cast<unsigned char>(word[i]);
    const bool hump = std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(word[i - 1])) != 0;
    if (hump) result += '_';
    result += static_cast<char>(std::tolower(c));
  }
  return result;
}

/// Returns the operation in ATen's name of a functor or of the function that contains a lambda: CUDAFunctor_add and
/// add_kernel_cuda become add.
std::string operation(std::string word) {
  for (const char* prefix : {"CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "CUDAFunctor_", "cuda_", "launch_"})
    drop_prefix(word, prefix);
  static constexpr std::array kSuffixes = {
      "_kernel_cuda", "_cuda_kernel", "_kernel_impl", "CUDAKernelImpl", "CUDAKernel",  "KernelImpl", "_out", "_impl",
      "_kernel",      "_cuda",        "_cuda_",       "_functor",       "MathFunctor", "Functor",    "Ops",  "Op"};
  while (std::ranges::any_of(kSuffixes, [&](const char* suffix) { return drop_suffix(word, suffix); })) {
  }
  return snake_case(word);
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Returns the first operation. For foreach wrappers (BinaryOpScalarFunctor ...), appends the wrapped operation.
std::string operations(std::string_view arguments) {
  const std::vector<std::string> words = significant_words(arguments);
  if (words.empty()) return "";
  std::string result = operation(words.front());
  const bool wraps = has(words.front(), "aryOp") || has(words.front(), "PointwiseOp");
  if (wraps && words.size() > 1) result += ' ' + operation(words[1]);
  return result;
}

/// Returns the family of kernels that are instances of one template and differ only in its arguments.
std::string family_of(const std::string& base) {
  if (base == "reduce_kernel") return "reduce";
  if (base == "multi_tensor_apply_kernel") return "multi_tensor";
  if (base == "distribution_elementwise_grid_stride_kernel") return "random";
  const bool elementwise = has(base, "elementwise_kernel") && !has(base, "scatter_gather") && !has(base, "jagged");
  return elementwise ? "elementwise" : "";
}

/// Parts of library kernel names that do not identify operation, types, layout or tile, least informative first. An
/// entry that ends in '#' matches a word that ends in a number.
constexpr std::array<std::string_view, 14> kFiller = {"5x",        "cublas",         "execute", "kernel",  "generated",
                                                      "fort",      "native",         "aligna#", "alignc#", "cluster#",
                                                      "warpsize#", "warpgroupsize#", "ffma",    "stage#"};

bool is_filler(std::string_view word, std::string_view filler) {
  const bool numbered = filler.back() == '#';
  if (!numbered) return word == filler;
  filler.remove_suffix(1);
  return word.size() > filler.size() && word.rfind(filler, 0) == 0 &&
         std::isdigit(static_cast<unsigned char>(word[filler.size()])) != 0;
}

/// Splits a name at underscores and removes empty words and those that match `filler`.
std::string without(const std::string& name, std::string_view filler) {
  std::vector<std::string> words = split(name, '_');
  std::erase_if(words, [&](const std::string& word) { return word.empty() || is_filler(word, filler); });
  return join(words, "_");
}

/// Removes filler words until the name is short enough. Otherwise, truncated names of cuBLAS matrix products would be
/// equal.
std::string without_filler(std::string name) {
  if (name.size() <= kLongest) return name;
  static constexpr std::string_view kTile = "_tilesize";
  if (const std::size_t at = name.find(kTile); at != std::string::npos) name.erase(at + 1, kTile.size() - 1);
  for (const std::string_view filler : kFiller)
    if (name.size() > kLongest) name = without(name, filler);
  return name;
}

/// Removes the middle of a name that is too long.
std::string bounded(const std::string& whole) {
  static constexpr std::string_view kEllipsis = "...";
  const std::string name = without_filler(whole);
  if (name.size() <= kLongest) return name;
  const auto inside_character = [&](std::size_t at) {
    return at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U;
  };
  std::size_t head = (kLongest - kEllipsis.size()) / 2;
  std::size_t tail = name.size() - (kLongest - kEllipsis.size() - head);
  while (head > 0 && inside_character(head)) --head;
  while (inside_character(tail)) ++tail;
  return name.substr(0, head) + std::string(kEllipsis) + name.substr(tail);
}

std::string readable(const std::string& name) {
  const Component last = last_component(name);
  if (const std::string family = family_of(last.base); !family.empty()) {
    const std::string what = operations(last.arguments);
    return what.empty() ? family : family + ' ' + what;
  }
  if (last.base == "Kernel" || last.base == "Kernel2" ||
      last.base == "device_kernel") {  // CUTLASS: the template argument identifies the kernel
    const std::vector<std::string> words = significant_words(last.arguments);
    const auto found = std::ranges::find_if(words, [](const std::string& word) {
      return word != "cutlass" && word != "gemm" && word != "kernel" && word.rfind("enable_", 0) != 0;
    });
    if (found != words.end()) return *found;
  }
  const bool generic = last.base == "kernel" || last.base == "Kernel" || last.base == "run";
  if (generic && !last.scope.empty()) return last.scope + "::" + last.base;
  return has(last.arguments, "LogSoftMax") ? last.base + " log" : last.base;
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  const std::string plain = without_anonymous(name);
  const bool is_signature = plain.find_first_of("<(") != std::string::npos;
  std::string result = is_signature ? readable(plain) : plain;
  if (!is_signature && plain.find(' ') == std::string::npos) {
    const std::size_t colon = plain.rfind("::");
    if (colon != std::string::npos && colon + 2 < plain.size()) result = plain.substr(colon + 2);
  }
  return bounded(result.empty() ? std::string(name) : result);
}

}  // namespace kymo::analysis
