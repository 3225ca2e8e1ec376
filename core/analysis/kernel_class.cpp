// SPDX-License-Identifier: Apache-2.0
#include "analysis/kernel_class.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/keys.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::analysis {
namespace {

const std::vector<std::string>& known_classes() {
  static const std::vector<std::string> classes = {"matmul",    "softmax",       "elementwise", "reduction",
                                                   "attention", "normalization", "optimizer",   "communication",
                                                   "copy",      "memset",        "other"};
  return classes;
}

struct ClassPatterns {
  const char* kernel_class;
  const char* texts;  ///< separated by '|' and white space after it
};

/// In matching order. Names are those of ATen, cuBLAS, cuDNN, NCCL, CUB, flash-attention, Inductor and Triton. General
/// patterns follow the specific ones that they would shadow.
constexpr ClassPatterns kClassPatterns[] = {
    {"copy", "memcpy "},  // the trailing space matches only CUPTI's copies, which are named by direction; copy kernels
                          // are elementwise
    {"memset", "memset"},
    {"communication", "nccl|nvshmem|multimem|one_shot_all_reduce|two_shot_all_reduce|cross_device_reduce"},
    {"optimizer", "multi_tensor|FusedAdam|FusedSgd|FusedAdagrad|adamw|fused_adam|fused_sgd"},
    // Before softmax and matmul: fused attention contains both, and its names contain CUTLASS and tensor core types.
    {"attention", "flash|fmha|sdpa|attention|mem_eff|dot_do_o|convert_dq"},
    {"softmax", "softmax"},
    {"normalization", R"(
        layer_norm|layernorm|rms_norm|rmsnorm|batch_norm|batchnorm|cudnn::bn_|group_norm|groupnorm|instance_norm|
        weight_norm|GammaBeta|RowwiseMoments|ComputeInternalGradients|ComputeFusedParams|BackwardFusedParams)"},
    // Kernels that finish a matrix product belong to it: split-K reductions, cuBLAS epilogues, the second half of a dot
    // product.
    {"matmul", R"(
        gemm|gemv|cutlass|xmma|nvjet|cublas|splitK|matmul|wgmma|tensorop|ampere_|volta_|turing_|hopper_|sm70_|sm75_|
        sm80_|sm86_|sm89_|sm90_|sm100_|sm120_|triton_tem|triton_mm|triton_bmm|region_transform|dot_kernel|
        reduce_1Block|syrk|implicit_convolve|convolve_common|fprop|dgrad|wgrad)"},
    {"elementwise", "elementwise|triton_poi"},  // before reduction: some apply `ReduceAdd` elementwise
    // Operations that combine many elements: sums, losses, embedding gradients, scans, sorts, histograms.
    {"reduction", R"(
        reduce|reduction|triton_red|triton_per|nll_loss|cross_entropy|embedding_backward|embedding_dense_backward|
        compute_grad_weight|sum_and_scatter|krn_partial|partial_segments|segment_offsets|segment_sizes|num_of_segments|
        indexing_backward|EmbeddingBag|lpnorm|DeviceScan|scan_|DeviceSelect|radix|bitonic|DeviceMergeSort|topk|kthvalue|
        cumsum|histogram|RunLength|UniqueByKey|CTCLoss|MultiMarginLoss|MultiLabelMargin)"},
    {"elementwise", R"(
        CatArray|chunk_cat|index_select|indexSelect|indexFunc|index_put|index_copy|index_add|index_kernel|gather|
        scatter|take_put|dropout|masked_scale|triu_tril|embedding|copy|fill_|FillKernel|convert|cast|transpose|permute|
        nchwToNhwc|nhwcToNchw|flip|roll_cuda|arange|range_cuda|random|distribution|bernoulli|multinomial|rotary|rope_|
        gelu|silu|swiglu|glu_|relu|axpy|scal_kernel|scal_64addr|unfold|amp_|pointwise|im2col|col2im|transform_bias)"},
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

/// Returns "FILE:LINE: pattern 2", with the line of the pattern's header in the file.
std::string location_of(const std::string& origin, std::string_view text, std::size_t ordinal) {
  const std::string which = ": pattern " + std::to_string(ordinal + 1);
  std::size_t line = 0;
  std::size_t seen = 0;
  for (const std::string& content : split(text, '\n')) {
    ++line;
    std::string plain = content;
    std::erase_if(plain, [](char c) { return c == ' ' || c == '\t'; });
    if (plain.rfind("[[pattern]]", 0) == 0 && seen++ == ordinal) return origin + ":" + std::to_string(line) + which;
  }
  return origin + which;
}

Classifier::Pattern read_pattern(const Json& table, const std::string& location) {
  Keys keys(table, location);
  for (const char* key : {"contains", "class"}) keys.find(key);
  keys.finish();  // first, so that a misspelled key is reported instead of a missing one
  const Classifier::Pattern pattern{lowered(keys.non_empty_text("contains")), keys.non_empty_text("class")};
  if (const auto& classes = known_classes(); !contains(classes, pattern.kernel_class))
    keys.fail("unknown class " + quote(pattern.kernel_class) + "; known: " + join(classes, ", "));
  return pattern;
}

}  // namespace

Classifier::Classifier() {
  for (const ClassPatterns& group : kClassPatterns)
    for (const std::string& text : split(group.texts, '|'))
      patterns_.push_back({lowered(text.substr(text.find_first_not_of(" \n"))), group.kernel_class});
}

Classifier Classifier::with_file(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const Json content = parse_toml(text, file.string());
  Keys keys(content, file.string());
  const Json* tables = keys.find_array("pattern");
  keys.finish();
  std::vector<Pattern> patterns;
  for (std::size_t i = 0; tables != nullptr && i < tables->size(); ++i)
    patterns.push_back(read_pattern(tables->at(i), location_of(file.string(), text, i)));
  Classifier classifier;
  classifier.patterns_.insert(classifier.patterns_.begin(), patterns.begin(), patterns.end());
  return classifier;
}

const std::string& Classifier::class_of(std::string_view name) const {
  static const std::string other = "other";
  const std::string plain = lowered(name);
  const auto found = std::ranges::find_if(
      patterns_, [&](const Pattern& pattern) { return plain.find(pattern.text) != std::string::npos; });
  return found == patterns_.end() ? other : found->kernel_class;
}

}  // namespace kymo::analysis
