// SPDX-License-Identifier: Apache-2.0
// Kernel dispatch: validates a call and selects the first matching row of the kernel tables.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "backward_splits.hpp"
#include "device.hpp"
#include "flash.hpp"
#include "forward_decode.hpp"
#include "forward_splits.hpp"
#include "kernels.hpp"

namespace kymo::flash {
namespace {

using enum Path;

/// The name and the launcher of a kernel.
#define KERNEL(launcher) #launcher, launcher

enum Tiling {
  kPlain,
  kPipelined,  // never uses a tile counter
  kSplitKv,    // split-KV: selected automatically only if it is faster and a workspace is given
  kDecode      // at most kDecodeRows query rows
};
enum Masks { kFull = 1, kCausal = 2, kAnyMask = 3 };
constexpr size_t kCounterBytes = 256;  // one counter of the tiles taken
constexpr int64_t kAnyLength = int64_t{1} << 40;

/// A row supports calls of its path with d <= max_d and one of its masks. It is selected automatically for fewer than
/// `below` keys, and by its index (Forward::variant) for any number.
struct ForwardRow {
  const char* name;
  LaunchForward* launch;
  Path path;
  int max_d;
  Tiling tiling = kPlain;
  Masks masks = kAnyMask;
  int64_t below = kAnyLength;
  bool few = false;  // selected automatically only with at most two tiles of 128 queries per SM
};
// Based on the times in docs/kernels/attention_forward.md. Few tiles: split-KV where it is faster. d 64: three
// consumers hide the exponentials, which have twice the weight there; but below 1536 keys a causal mask wastes too much
// of 192 rows, below 1k the prologue and epilogue of a tile weigh more, and few tiles of 192 rows load the GPU too
// unevenly. d 192 and 256: 112 and 80 keys are the largest tiles that fit twice. Pipelined, d 192 has registers for 80.
constexpr auto kForward = std::to_array<ForwardRow>({
    {KERNEL(hopper_decode_d64), kHopper, 64, kDecode, kFull},
    {KERNEL(hopper_forward_d64_splitkv128x128), kHopper, 64, kSplitKv},
    {KERNEL(hopper_forward_d64_pipelined128x128), kHopper, 64, kPipelined, kAnyMask, kAnyLength, true},
    {KERNEL(hopper_forward_d64_pipelined128x128), kHopper, 64, kPipelined, kFull, 1024},
    {KERNEL(hopper_forward_d64_192x128), kHopper, 64, kPlain, kFull},
    {KERNEL(hopper_forward_d64_pipelined128x128), kHopper, 64, kPipelined, kCausal, 1536},
    {KERNEL(hopper_forward_d64_192x128), kHopper, 64, kPlain, kCausal},
    {KERNEL(hopper_decode_d128), kHopper, 128, kDecode, kFull},
    {KERNEL(hopper_forward_d128_splitkv128x128), kHopper, 128, kSplitKv},
    {KERNEL(hopper_forward_d96_pipelined128x128), kHopper, 96, kPipelined},
    {KERNEL(hopper_forward_d128_pipelined128x128), kHopper, 128, kPipelined},
    {KERNEL(hopper_forward_d192_splitkv128x112), kHopper, 192, kSplitKv},
    {KERNEL(hopper_forward_d192_pipelined128x80), kHopper, 192, kPipelined, kFull, 2048},
    {KERNEL(hopper_forward_d192_pipelined128x80), kHopper, 192, kPipelined, kCausal, 8192},
    {KERNEL(hopper_forward_d192_128x112), kHopper, 192},
    {KERNEL(hopper_forward_d256_splitkv128x80), kHopper, 256, kSplitKv},
    {KERNEL(hopper_forward_d256_128x80), kHopper, 256},
    {KERNEL(portable_forward_d64), kPortable, 64},
    {KERNEL(portable_forward_d128), kPortable, 128},
    {KERNEL(portable_forward_d256), kPortable, 256},
    {KERNEL(float_forward_d64_splitkv128x48), kFloat, 64, kSplitKv},
    {KERNEL(float_forward_d64_128x48), kFloat, 64},
    {KERNEL(float_forward_d128_splitkv64x64), kFloat, 128, kSplitKv},
    {KERNEL(float_forward_d128_64x64), kFloat, 128},
    {KERNEL(float_forward_d256_splitkv64x16), kFloat, 256, kSplitKv},
    {KERNEL(float_forward_d256_64x16), kFloat, 256},
});

enum Accumulation {
  kDeterministic,  // supports deterministic calls
  kShort,          // the same, without a workspace (ShortTile): selected automatically only if it is faster
  kShortPairs,     // the same, for fits_pairs()
  kAtomic,
  kSplitQ,     // atomic and split-Q: selected automatically only if it is faster
  kSplitHeads  // the same, only if query heads are split
};

struct BackwardRow {
  const char* name;
  LaunchBackward* launch;
  Path path;
  int max_d;
  Accumulation accumulation;     // of the contributions to a gradient
  int64_t below = kAnyLength;    // as in ForwardRow
  int shared_kb = kMinSharedKb;  // required per block
  bool lockstep = false;         // tiles of kLockstepRows queries

  /// Columns of the fp32 accumulator of dQ.
  int columns() const { return path == kHopper ? max_d : 0; }
  bool has_workspace() const { return accumulation != kShort && accumulation != kShortPairs; }
  bool reproducible() const { return accumulation == kDeterministic || !has_workspace(); }
  bool splits() const { return accumulation == kSplitQ || accumulation == kSplitHeads; }
};
// Based on the times in docs/kernels/attention_backward.md. fp32: `small` for GPUs with too little shared memory per
// block for the others, and at d 256 below 512 keys, where blocks of half the size fill the GPU sooner.
constexpr auto kBackward = std::to_array<BackwardRow>({
    {KERNEL(hopper_backward_d64_pairs), kHopper, 64, kShortPairs},
    {KERNEL(hopper_backward_d64_short), kHopper, 64, kShort},
    {KERNEL(hopper_backward_d64_splitq), kHopper, 64, kSplitQ},
    {KERNEL(hopper_backward_d64), kHopper, 64, kDeterministic},
    {KERNEL(hopper_backward_d128_short), kHopper, 128, kShort},
    {KERNEL(hopper_backward_d128_lockstep_splitq), kHopper, 128, kSplitHeads, kAnyLength, kMinSharedKb, true},
    {KERNEL(hopper_backward_d128_splitq), kHopper, 128, kSplitQ},
    {KERNEL(hopper_backward_d128_lockstep_early), kHopper, 128, kAtomic, kAnyLength, kMinSharedKb, true},
    {KERNEL(hopper_backward_d128_lockstep), kHopper, 128, kDeterministic, kAnyLength, kMinSharedKb, true},
    {KERNEL(hopper_backward_d128), kHopper, 128, kDeterministic, 1024},
    {KERNEL(hopper_backward_d128_early), kHopper, 128, kAtomic},
    {KERNEL(hopper_backward_d192_splitq), kHopper, 192, kSplitQ},
    {KERNEL(hopper_backward_d192), kHopper, 192, kDeterministic},
    {KERNEL(hopper_backward_d256_splitq), kHopper, 256, kSplitQ},
    {KERNEL(hopper_backward_d256), kHopper, 256, kDeterministic},
    {KERNEL(portable_backward_d64), kPortable, 64, kDeterministic},
    {KERNEL(portable_backward_d128), kPortable, 128, kDeterministic},
    {KERNEL(portable_backward_d256), kPortable, 256, kDeterministic},
    {KERNEL(float_backward_d64_splitq), kFloat, 64, kSplitQ},
    {KERNEL(float_backward_d64_atomic), kFloat, 64, kAtomic},
    {KERNEL(float_backward_d128_splitq), kFloat, 128, kSplitQ, kAnyLength, float_backward_kb(128)},
    {KERNEL(float_backward_d128_atomic), kFloat, 128, kAtomic, kAnyLength, float_backward_kb(128)},
    {KERNEL(float_backward_d128_splitq_small), kFloat, 128, kSplitQ},
    {KERNEL(float_backward_d128_small), kFloat, 128, kAtomic},
    {KERNEL(float_backward_d256_splitq_small), kFloat, 256, kSplitQ, 512},
    {KERNEL(float_backward_d256_splitq), kFloat, 256, kSplitQ, kAnyLength, float_backward_kb(256)},
    {KERNEL(float_backward_d256_atomic), kFloat, 256, kAtomic, kAnyLength, float_backward_kb(256)},
    {KERNEL(float_backward_d256_splitq_small), kFloat, 256, kSplitQ},
    {KERNEL(float_backward_d256_small), kFloat, 256, kAtomic},
    {KERNEL(float_backward_d64_128x32), kFloat, 64, kDeterministic},
    {KERNEL(float_backward_d128_64x16), kFloat, 128, kDeterministic},
    {KERNEL(float_backward_d256_32x16), kFloat, 256, kDeterministic},
});

struct NamedTensor {
  const char* name;
  Input tensor;
  int64_t heads, rows;
};
Input as_input(const Output& t) { return {t.at, t.batch_stride, t.head_stride, t.row_stride}; }

std::string size_error(const Problem& p) {
  const auto text = [](int64_t number) { return std::to_string(number); };
  if (p.batch < 1 || p.heads_q < 1 || p.heads_kv < 1 || p.seq_q < 1 || p.seq_k < 1)
    return "batch, heads and lengths must be at least 1";
  if (p.heads_q % p.heads_kv != 0)
    return text(p.heads_q) + " query heads are not a multiple of " + text(p.heads_kv) + " key/value heads";
  if (p.d < 8 || p.d > 256 || p.d % 8 != 0) return "head size " + text(p.d) + " is not a multiple of 8 from 8 to 256";
  const int64_t longest = p.seq_q > p.seq_k ? p.seq_q : p.seq_k, most = int64_t{1} << 31;
  if (longest > int64_t{1} << 28 || p.batch > most || p.heads_q > most ||
      p.batch * p.heads_q > most / (longest + kLockstepRowPadding))
    return "batch x heads x length must be below 2^31, and a length at most 2^28";
  if (!(p.scale > 0) || std::isinf(p.scale)) return "the scale must be finite and above 0";
  return {};
}

std::string alignment_error(const Problem& p, std::initializer_list<NamedTensor> tensors) {
  const int64_t size = p.element == Element::kFloat32 ? 4 : 2;
  const auto uneven = [&](int64_t stride, int64_t count) { return count > 1 && stride * size % 16 != 0; };
  for (const NamedTensor& t : tensors) {
    if (!t.tensor.at) return std::string(t.name) + " is a null pointer";
    if (reinterpret_cast<uintptr_t>(t.tensor.at) % 16 != 0 || uneven(t.tensor.row_stride, t.rows) ||
        uneven(t.tensor.head_stride, t.heads) || uneven(t.tensor.batch_stride, p.batch))
      return std::string("the rows of ") + t.name + " must start on 16-byte boundaries; copy the tensor first";
  }
  return {};
}

/// TMA supports neither strides of 0 (an expanded tensor) nor strides of 2^40 bytes.
bool fits_tma(const Problem& p, std::initializer_list<NamedTensor> tensors) {
  const auto fits = [](int64_t stride, int64_t count) {
    return count == 1 || (stride > 0 && stride < int64_t{1} << 39);
  };
  for (const NamedTensor& t : tensors)
    if (!fits(t.tensor.row_stride, t.rows) || !fits(t.tensor.head_stride, t.heads) ||
        !fits(t.tensor.batch_stride, p.batch))
      return false;
  return true;
}

/// Compute capability of the current device: 10 * major + minor.
int capability(std::string& error) {
  int device = 0, major = 0, minor = 0;
  cudaError_t code = cudaGetDevice(&device);
  if (code == cudaSuccess) code = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (code == cudaSuccess) code = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (code != cudaSuccess) error = std::string("no CUDA device: ") + cudaGetErrorString(code);
  return major * 10 + minor;
}

/// Path of a call for which the Hopper kernels support d up to hopper_d; kAutomatic and a reason in `error` if no
/// path supports it.
Path path_of(const Problem& p, Path requested, bool tma, int hopper_d, std::string& error) {
  const int device = capability(error);
  if (!error.empty()) return kAutomatic;
  if (device < 80) return error = "a GPU of compute capability 8.0 or later is required", kAutomatic;
  const bool wide = p.element == Element::kFloat32, hopper = device == 90 && !wide && tma && p.d <= hopper_d;
  const Path best = wide ? kFloat : hopper ? kHopper : kPortable;
  if (requested == kAutomatic || requested == best || (requested == kPortable && !wide))
    return requested == kAutomatic ? best : requested;
  error =
      requested == kHopper
          ? "the Hopper kernels require compute capability 9.0, 16-bit elements, strides above 0 and d of at most " +
                std::to_string(hopper_d)
      : wide ? "fp32 is supported on the float path only"
             : "the float path supports fp32 only";
  return kAutomatic;
}

/// The row with index `variant`, or, if that is -1, the first one that is selected automatically. Null if no row
/// supports the call; for an index, `error` then contains a reason.
template <class Rows, class Fits, class Automatic>
auto select_row(const Rows& rows, int variant, const Fits& fits, const Automatic& automatic, std::string& error)
    -> const typename Rows::value_type* {
  if (variant >= 0) {
    if (variant < static_cast<int>(rows.size()) && fits(rows[static_cast<size_t>(variant)]))
      return &rows[static_cast<size_t>(variant)];
    if (error.empty()) error = "kernel variant " + std::to_string(variant) + " does not support this call";
    return nullptr;
  }
  for (const auto& row : rows)
    if (fits(row) && automatic(row)) return &row;
  return nullptr;
}

/// 1 if the query fails.
int multiprocessor_count() {
  int count = 1;
  return count_multiprocessors(count) == cudaSuccess ? count : 1;
}
/// Shared memory per block in KB; the minimum if the query fails.
int shared_kb_per_block() {
  int bytes = 0;
  return shared_memory_of_block(bytes) == cudaSuccess ? bytes / 1024 : kMinSharedKb;
}
ForwardSplits splits_of(const Forward& call, const ForwardRow& row, int multiprocessors) {
  const SplitKvTile tile = split_kv_tile(row.path == kFloat, row.max_d);
  return forward_splits(call, tile.rows, tile.keys, multiprocessors);
}

SplitQTile split_q_tile_of(const BackwardRow& row) {
  return split_q_tile(row.path == kFloat, row.max_d, row.shared_kb, row.lockstep);
}

bool has_few_tiles(const Problem& p, int multiprocessors) {
  return p.batch * p.heads_q * ((p.seq_q + 127) / 128) <= 2 * multiprocessors;
}

/// With fewer queries than a tile, for example in decoding, the query heads of a group become the rows of one head, so
/// that each key and value is loaded once per group (Ainslie et al. 2023, grouped-query attention). This takes strides
/// only: with one query, or if the rows of a group follow each other. With more queries, a causal mask forbids it; a
/// single query sees every key.
Forward packed(Forward call) {
  Problem& p = call.problem;
  if (p.seq_q == 1) p.causal = false;
  if (p.heads_kv < 1 || p.heads_q <= p.heads_kv || p.heads_q % p.heads_kv != 0) return call;
  const auto adjacent = [&](const auto& tensor) { return tensor.head_stride == p.seq_q * tensor.row_stride; };
  const bool one = p.seq_q == 1;
  if (p.seq_q >= 128 || !(one || (!p.causal && adjacent(call.q) && adjacent(call.o)))) return call;
  const int64_t group = p.heads_q / p.heads_kv;
  const auto pack = [&](auto& tensor) {
    if (one) tensor.row_stride = tensor.head_stride;
    tensor.head_stride *= group;
  };
  pack(call.q), pack(call.o);
  p.heads_q = p.heads_kv, p.seq_q *= group;
  return call;
}

/// `workspace`: the call has a workspace, or will receive one.
const ForwardRow* select_kernel(const Forward& call, std::string& error, bool workspace = true) {
  const Problem& p = call.problem;
  const std::initializer_list<NamedTensor> tensors = {{"q", call.q, p.heads_q, p.seq_q},
                                                      {"k", call.k, p.heads_kv, p.seq_k},
                                                      {"v", call.v, p.heads_kv, p.seq_k},
                                                      {"o", as_input(call.o), p.heads_q, p.seq_q}};
  error = size_error(p);
  if (error.empty()) error = alignment_error(p, tensors);
  if (error.empty() && !call.lse) error = "lse is a null pointer";
  if (!error.empty()) return nullptr;
  const Path path = path_of(p, call.path, fits_tma(p, tensors), 256, error);
  const auto fits = [&](const ForwardRow& row) {
    return row.path == path && p.d <= row.max_d && (row.masks & (p.causal ? kCausal : kFull)) &&
           (row.tiling != kDecode || p.seq_q <= kDecodeRows);
  };
  const int multiprocessors = multiprocessor_count();
  const bool few = has_few_tiles(p, multiprocessors);
  const auto automatic = [&](const ForwardRow& row) {
    if (p.seq_k >= row.below || (row.few && !few)) return false;
    return row.tiling != kSplitKv || (workspace && splits_of(call, row, multiprocessors).chunks > 1);
  };
  return select_row(kForward, call.variant, fits, automatic, error);
}

const BackwardRow* select_kernel(const Backward& call, std::string& error) {
  const Problem& p = call.problem;
  const std::initializer_list<NamedTensor> tensors = {{"q", call.q, p.heads_q, p.seq_q},
                                                      {"k", call.k, p.heads_kv, p.seq_k},
                                                      {"v", call.v, p.heads_kv, p.seq_k},
                                                      {"o", call.o, p.heads_q, p.seq_q},
                                                      {"do", call.d_o, p.heads_q, p.seq_q},
                                                      {"dq", as_input(call.dq), p.heads_q, p.seq_q},
                                                      {"dk", as_input(call.dk), p.heads_kv, p.seq_k},
                                                      {"dv", as_input(call.dv), p.heads_kv, p.seq_k}};
  error = size_error(p);
  if (error.empty()) error = alignment_error(p, tensors);
  if (error.empty() && !call.lse) error = "lse is a null pointer";
  if (!error.empty()) return nullptr;
  int hopper_d = 0;  // maximum of all Hopper rows
  for (const BackwardRow& row : kBackward)
    if (row.path == kHopper && (call.variant >= 0 || p.seq_k < row.below)) hopper_d = std::max(hopper_d, row.max_d);
  const Path path = path_of(p, call.path, fits_tma(p, tensors), hopper_d, error);
  const auto fits = [&](const BackwardRow& row) {
    return row.path == path && p.d <= row.max_d && (row.reproducible() || !call.deterministic) &&
           (row.has_workspace() || short_tile(row.max_d).fits(p)) &&
           (row.accumulation != kShortPairs || fits_pairs(p)) && (!row.lockstep || lockstep_fits(p)) &&
           (row.shared_kb <= kMinSharedKb || row.shared_kb <= shared_kb_per_block());
  };
  const auto automatic = [&](const BackwardRow& row) {
    if (row.accumulation == kShortPairs) return pairs_are_faster(p, multiprocessor_count());
    if (row.accumulation == kShort) return short_is_faster(p, multiprocessor_count());
    if (row.accumulation == kSplitHeads) return splits_heads(p, split_q_tile_of(row));
    if (row.lockstep) return lockstep_is_faster(p, call.deterministic);
    return p.seq_k < row.below &&
           (row.accumulation != kSplitQ || split_q_is_faster(p, split_q_tile_of(row), multiprocessor_count()));
  };
  return select_row(kBackward, call.variant, fits, automatic, error);
}

/// options: passed to select_kernel().
template <class Call, class... Options>
bool supports(const Call& call, std::string* reason, Options... options) {
  std::string error;
  const bool fits = select_kernel(call, error, options...) != nullptr;
  if (reason) *reason = std::move(error);
  return fits;
}
template <class Call>
std::string name_of(const Call& call) {
  std::string error;
  const auto* row = select_kernel(call, error);
  return row ? row->name : "";
}

}  // namespace

// Support does not depend on split-KV, whose evaluation takes time, so it is skipped.
bool supported(const Forward& call, std::string* reason) { return supports(packed(call), reason, false); }
bool supported(const Backward& call, std::string* reason) { return supports(call, reason); }
std::string kernel_name(const Forward& call) { return name_of(packed(call)); }
std::string kernel_name(const Backward& call) { return name_of(call); }

size_t workspace_bytes(const Forward& unpacked) {
  const Forward call = packed(unpacked);
  std::string error;
  const ForwardRow* row = select_kernel(call, error);
  if (row && row->tiling == kSplitKv)
    return forward_space(splits_of(call, *row, multiprocessor_count()), row->max_d).bytes();
  return row && row->path == kHopper && row->tiling == kPlain && uses_tile_counter(call.problem) ? kCounterBytes : 0;
}

size_t workspace_bytes(const Backward& call) {
  std::string error;
  const BackwardRow* row = select_kernel(call, error);
  if (row && !row->has_workspace()) return 0;
  return row ? backward_space(call, row->columns(), row->splits(), row->lockstep).bytes() : 0;
}

std::string launch_forward(const Forward& unpacked, Stream stream) {
  const Forward call = packed(unpacked);
  std::string error;
  const ForwardRow* row = select_kernel(call, error, call.workspace != nullptr);
  if (row && (reinterpret_cast<uintptr_t>(call.workspace) % 256 != 0 || (row->tiling == kSplitKv && !call.workspace)))
    return "the workspace must be 256-byte aligned device memory";
  return row ? row->launch(call, stream) : error;
}

std::string launch_backward(const Backward& call, Stream stream) {
  std::string error;
  const BackwardRow* row = select_kernel(call, error);
  if (!row) return error;
  if (row->has_workspace() && (!call.workspace || reinterpret_cast<uintptr_t>(call.workspace) % 256 != 0))
    return "the workspace must be 256-byte aligned device memory";
  return row->launch(call, stream);
}

}  // namespace kymo::flash
