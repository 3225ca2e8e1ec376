// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 in tensor operations: its tiles, then the forward and the backward pass.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "ops/kernels.hpp"

namespace kymo::ops::tiled {
namespace {

/// Queries and keys of a tile. A tile of scores has kQueryRows × kKeyRows elements per head, independent of the
/// sequence length. Larger tiles give fewer and larger matrix multiplications, which are more efficient as tensor
/// operations; a CUDA kernel would be limited by its shared memory.
constexpr std::int64_t kQueryRows = 128;
constexpr std::int64_t kKeyRows = 256;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Rows [begin, begin + count) of a sequence.
struct Rows {
  std::int64_t begin = 0, count = 0;
  std::int64_t end() const { return begin + count; }
};

Rows tile_from(std::int64_t begin, std::int64_t rows, std::int64_t length) {
  return {begin, std::min(rows, length - begin)};
}

/// Named sizes of a call.
struct Sizes {
  std::int64_t batch, key_heads, group, query_length, key_length, width;
  std::int64_t offset;  ///< with a causal mask, query i sees key j if j <= i + offset
  bool causal;

  Sizes(const at::Tensor& query, const at::Tensor& key, bool is_causal)
      : batch(query.size(0)),
        key_heads(key.size(1)),
        group(query.size(1) / key.size(1)),
        query_length(query.size(2)),
        key_length(key.size(2)),
        width(query.size(3)),
        offset(causal_offset(query_length, key_length)),
        causal(is_causal) {}

  /// One past the last key that any of these queries sees; 0 if they see none.
  std::int64_t visible_end(const Rows& queries) const {
    return causal ? std::clamp<std::int64_t>(queries.end() + offset, 0, key_length) : key_length;
  }
  /// The first query that sees any of these keys; query_length if none does.
  std::int64_t first_that_sees(const Rows& keys) const {
    return causal ? std::clamp<std::int64_t>(keys.begin - offset, 0, query_length) : 0;
  }
};

/// Rows of a tensor [batch, query heads, length, d] as [batch · key heads, group · rows, d] in the accumulator type.
/// The query heads that share a key head are stacked along the rows: one matrix multiplication serves the whole group,
/// and sums over rows are sums over the group.
at::Tensor query_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows) {
  return tensor.narrow(2, rows.begin, rows.count)
      .to(accumulator_of(tensor.scalar_type()))
      .reshape({sizes.batch * sizes.key_heads, sizes.group * rows.count, sizes.width});
}

/// The same layout for one value per row: [batch, query heads, length] as [batch · key heads, group · rows, 1].
at::Tensor row_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows) {
  return tensor.narrow(2, rows.begin, rows.count).reshape({sizes.batch * sizes.key_heads, sizes.group * rows.count, 1});
}

/// Rows of a tensor [batch, key heads, length, d] as [batch · key heads, rows, d].
at::Tensor key_tile(const at::Tensor& tensor, const Sizes& sizes, const Rows& rows) {
  return tensor.narrow(2, rows.begin, rows.count)
      .to(accumulator_of(tensor.scalar_type()))
      .reshape({sizes.batch * sizes.key_heads, rows.count, sizes.width});
}

/// Writable view of the rows of `whole` [batch, query heads, length, …], shaped like the results of a tile.
at::Tensor rows_of(const at::Tensor& whole, const Rows& rows) { return whole.narrow(2, rows.begin, rows.count); }

/// scale · Q·Kᵀ of one tile, −∞ where a query does not see a key: [batch · key heads, group · queries, keys].
at::Tensor score_tile(const at::Tensor& query, const at::Tensor& key, const Sizes& sizes, const Rows& queries,
                      const Rows& keys, double scale) {
  at::Tensor scores = at::bmm(query, key.transpose(1, 2)).mul_(scale);
  // Only tiles on the diagonal are partially masked. Tiles above it are never computed, and tiles below it need no
  // mask.
  if (!sizes.causal || keys.end() - 1 <= queries.begin + sizes.offset) return scores;
  const auto positions = scores.options().dtype(at::kLong);
  const at::Tensor last_seen =
      at::arange(queries.begin + sizes.offset, queries.end() + sizes.offset, positions).unsqueeze(1);
  const at::Tensor hidden = at::arange(keys.begin, keys.end(), positions).gt(last_seen);
  scores.view({-1, sizes.group, queries.count, keys.count}).masked_fill_(hidden, kMinusInfinity);
  return scores;
}

// FlashAttention-2, forward (Dao 2023, algorithm 1).
//
// A softmax needs the sum over a whole row of scores, which is too long to store. Two properties allow processing it in
// tiles:
//
//   1. The softmax of a row is unchanged if one value m is subtracted from all of its scores, and m may change: sums
//      taken with an old m are rescaled by a factor exp(m_old − m_new). A row can therefore be processed in tiles, with
//      m the running maximum ("online softmax", Milakov and Gimelshein 2018), so that no exponential overflows.
//   2. The division by the row's sum can be deferred: O stays unnormalized and is divided once, not once per tile.
//
//            keys ──►  tile 0   tile 1   tile 2            for each query tile i:
//   queries   ┌─────────┬────────┬────────┐                  O = 0, l = 0 (sums), m = −∞ (maxima)
//      │      │  S = scale·Qi·Kjᵀ         │                  for each key tile j that any query of i sees:
//      ▼  i   │ ──────────────────────►   │                    S = scale · Qi·Kjᵀ                  −∞ where masked
//             ├─────────┼────────┼────────┤                    m' = max(m, rowmax S)
//             │   with a causal mask the  │                    P = exp(S − m'),  α = exp(m − m')
//             │   tiles above the         │                    l = α·l + rowsum P,  O = α·O + P·Vj,  m = m'
//             └─────────  diagonal are    │                  O = O / l
//                         never visited  ─┘                  L = m + log l      (log-sum-exp, saved for backward)

/// State of a query tile after some key tiles.
struct Progress {
  at::Tensor output;   ///< O, unnormalized: [batch · key heads, group · queries, d]
  at::Tensor sum;      ///< l: [batch · key heads, group · queries, 1]
  at::Tensor maximum;  ///< m: the same shape
};

Progress initial_progress(const at::Tensor& query) {
  const std::vector<std::int64_t> column{query.size(0), query.size(1), 1};
  return {at::zeros(query.sizes(), query.options()), at::zeros(column, query.options()),
          at::full(column, kMinusInfinity, query.options())};
}

void accumulate(Progress& so_far, at::Tensor scores, const at::Tensor& value) {
  const at::Tensor maximum = at::maximum(so_far.maximum, scores.amax(-1, /*keepdim=*/true));
  // A row without a visible key has m = −∞, and −∞ − (−∞) is NaN: subtracting 0 instead leaves its exponentials 0.
  const at::Tensor subtracted = maximum.masked_fill(maximum == kMinusInfinity, 0);
  const at::Tensor powers = scores.sub_(subtracted).exp_();
  const at::Tensor correction = (so_far.maximum - subtracted).exp_();
  so_far.sum.mul_(correction).add_(powers.sum(-1, /*keepdim=*/true));
  so_far.output.mul_(correction).baddbmm_(powers, value);
  so_far.maximum = maximum;
}

}  // namespace

void forward(const ForwardTensors& tensors, const Setting& setting) {
  const Sizes sizes(tensors.query, tensors.key, setting.causal);
  for (std::int64_t i = 0; i < sizes.query_length; i += kQueryRows) {
    const Rows queries = tile_from(i, kQueryRows, sizes.query_length);
    const at::Tensor query = query_tile(tensors.query, sizes, queries);
    Progress progress = initial_progress(query);
    const std::int64_t visible_end = sizes.visible_end(queries);
    for (std::int64_t j = 0; j < visible_end; j += kKeyRows) {
      const Rows keys = tile_from(j, kKeyRows, visible_end);
      accumulate(progress, score_tile(query, key_tile(tensors.key, sizes, keys), sizes, queries, keys, setting.scale),
                 key_tile(tensors.value, sizes, keys));
    }
    const at::Tensor log_sum_exp = progress.maximum + progress.sum.log();  // −∞ for rows that see no key
    const at::Tensor output = progress.output.div_(progress.sum.masked_fill(progress.sum == 0, 1));  // 0 for those rows
    const at::Tensor to = rows_of(tensors.output, queries), sums_to = rows_of(tensors.log_sum_exp, queries);
    to.copy_(output.view(to.sizes()));
    sums_to.copy_(log_sum_exp.view(sums_to.sizes()));
  }
}

// FlashAttention-2, backward (Dao 2023, algorithm 2).
//
// The weights P were not saved. Any tile of them is recomputed, already normalized, from the log-sum-exp L of each row:
//
//   P = exp(S − L)
//
// The gradient of a softmax needs rowsum(P ∘ dP) over a whole row. As O = P·V and dP = dO·Vᵀ, this equals rowsum(dO ∘
// O), one value per row, which is computed first (D):
//
//   D = rowsum(dO ∘ O)
//   for each key tile j:
//     dKj = 0, dVj = 0                                     complete when the inner loop ends
//     for each query tile i that sees any key of j:
//       P   = exp(scale · Qi·Kjᵀ − Li)                     0 where masked
//       dVj += Pᵀ·dOi
//       dS  = P ∘ (dOi·Vjᵀ − Di)
//       dKj += scale · dSᵀ·Qi
//       dQi += scale · dS·Kj                               summed over the outer loop, in full precision
//
// Five matrix multiplications instead of the forward pass's two, so 2.5 times its work. The order of every sum is
// fixed: the same inputs give bitwise equal results.
namespace {

struct KeyGradients {
  at::Tensor key, value;  ///< dKj and dVj: [batch · key heads, keys, d]
};

/// L and D, [batch, query heads, query length] in the accumulator type.
struct RowNumbers {
  at::Tensor log_sum_exp, gradient_dot_output;
};

RowNumbers row_numbers(const BackwardTensors& tensors, const Sizes& sizes) {
  const at::Tensor& output = tensors.output;
  // exp(S − L) with L = +∞ instead of −∞ makes the weights of a row that sees no key 0 instead of NaN.
  RowNumbers numbers{tensors.log_sum_exp.masked_fill(tensors.log_sum_exp == kMinusInfinity, -kMinusInfinity),
                     at::zeros({sizes.batch, output.size(1), sizes.query_length},
                               output.options().dtype(accumulator_of(output.scalar_type())))};
  for (std::int64_t i = 0; i < sizes.query_length; i += kQueryRows) {
    const Rows queries = tile_from(i, kQueryRows, sizes.query_length);
    const at::Tensor to = rows_of(numbers.gradient_dot_output, queries);
    to.copy_((query_tile(tensors.output_gradient, sizes, queries) * query_tile(output, sizes, queries))
                 .sum(-1)
                 .view(to.sizes()));
  }
  return numbers;
}

}  // namespace

void backward(const BackwardTensors& tensors, const Setting& setting) {
  const Sizes sizes(tensors.query, tensors.key, setting.causal);
  const RowNumbers numbers = row_numbers(tensors, sizes);
  const at::Tensor query_gradient =
      at::zeros(tensors.query.sizes(), tensors.query.options().dtype(accumulator_of(tensors.query.scalar_type())));
  for (std::int64_t j = 0; j < sizes.key_length; j += kKeyRows) {
    const Rows keys = tile_from(j, kKeyRows, sizes.key_length);
    const at::Tensor key = key_tile(tensors.key, sizes, keys), value = key_tile(tensors.value, sizes, keys);
    const KeyGradients sums{at::zeros(key.sizes(), key.options()), at::zeros(value.sizes(), value.options())};
    for (std::int64_t i = sizes.first_that_sees(keys); i < sizes.query_length; i += kQueryRows) {
      const Rows queries = tile_from(i, kQueryRows, sizes.query_length);
      const at::Tensor query = query_tile(tensors.query, sizes, queries);
      const at::Tensor output_gradient = query_tile(tensors.output_gradient, sizes, queries);
      const at::Tensor weights = score_tile(query, key, sizes, queries, keys, setting.scale)
                                     .sub_(row_tile(numbers.log_sum_exp, sizes, queries))
                                     .exp_();
      sums.value.baddbmm_(weights.transpose(1, 2), output_gradient);
      const at::Tensor score_gradient = at::bmm(output_gradient, value.transpose(1, 2))
                                            .sub_(row_tile(numbers.gradient_dot_output, sizes, queries))
                                            .mul_(weights)
                                            .mul_(setting.scale);
      sums.key.baddbmm_(score_gradient.transpose(1, 2), query);
      const at::Tensor to = rows_of(query_gradient, queries);
      to.add_(at::bmm(score_gradient, key).view(to.sizes()));
    }
    const at::Tensor key_to = rows_of(tensors.key_gradient, keys), value_to = rows_of(tensors.value_gradient, keys);
    key_to.copy_(sums.key.view(key_to.sizes()));
    value_to.copy_(sums.value.view(value_to.sizes()));
  }
  tensors.query_gradient.copy_(query_gradient);
}

}  // namespace kymo::ops::tiled
