// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/operator_arguments.hpp"
#include "event/derived.hpp"
#include "event/records.hpp"

/// Floating-point operations and minimum memory traffic of LibTorch operators, from their arguments.
///
/// Conventions:
/// - A matrix product of m × k and k × n has 2 m n k operations; the addition of a bias does not count (PaLM, Chowdhery
///   et al., 2022, appendix B). A convolution counts as the matrix product that it is.
/// - Attention has two products of queries × keys × head size forward. Its fused backward pass executes five, of which
///   the model needs four: the scores are computed again (FlashAttention-2, Dao, 2023).
/// - A fused attention kernel skips masked scores if it is causal: `flops` and `masked_model_flops` count the scores
///   that the mask leaves, `model_flops` all of them.
/// - An elementwise operator has a fixed number of operations per element of its result; functions such as exp count
///   once, comparisons and selections do not count. Softmax has 5 per element: maximum, difference, exp, sum and
///   quotient.
/// - Bytes: each operand is read once and each result is written once. Dimensions that are expanded count once.
namespace kymo::analysis {

/// Returns the work of one call, nullopt if kymo has no rule for the operator. The kind is unknown, and the amounts are
/// empty, if the arguments are not those that the rule expects.
std::optional<event::CallWork> operator_work(std::string_view name, const Arguments& arguments);

/// Returns true for operators that do no work themselves: views, allocations and those that only call others.
bool is_overhead(std::string_view name);

struct OpWorkTotals {
  std::vector<event::OpWork> rows;
  std::vector<std::int64_t> row_of_activity;  ///< index into rows for each activity of the trace; -1: none
};

/// Returns the work of the operators in measured steps by phase, scope, name, arguments and whether they were
/// recomputed, in order of first occurrence; empty if no arguments were recorded. Declarations of the workload take
/// precedence over the functions of libraries (record.library_op_work), and these over rules. Work counts at the
/// outermost operator that has one of them, with the time and the kernels of everything that it calls. An operator
/// without a rule is overhead if it is a node of the backward pass, if is_overhead(), or if it calls operators with
/// work and launches nothing itself; otherwise its work is unknown. Operators of a captured CUDA graph count once per
/// replay in which one of their kernels ran. An operator with an autograd sequence number of its own within a node of
/// the backward pass is recomputed. Activities must be attributed.
OpWorkTotals op_work(const event::PassRecord& record, std::int64_t warmup);

}  // namespace kymo::analysis
