// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/descriptor.hpp>
#include <kymo/workload_class.hpp>
#include <memory>
#include <string>

#include "transformer/attention.hpp"

namespace kymo::transformer {

/// The shape of one attention call.
struct AttentionShape {
  std::int64_t batch = 1, heads = 1, sequence = 1, head_dim = 1;
  at::ScalarType dtype = at::kFloat;
  bool causal = true;

  /// b·h·t·d.
  double elements() const;
  /// b·h·t², half if causal.
  double scores() const;
  /// 4·b·h·t²·d for the two matrix multiplications of the forward pass, half if causal: the convention of published
  /// benchmarks, for every implementation.
  double forward_flops() const;
  /// 2.5 times the forward pass: five matrix multiplications, including the recomputed scores, even if an
  /// implementation keeps them.
  double backward_flops() const { return 2.5 * forward_flops(); }
};

/// Times one attention call and its gradient on random tensors; base class of the attention plugins. Phases: forward,
/// backward. In mode backward, a step is the second phase only, on the graph of a forward pass from prepare().
class AttentionWorkload : public Workload {
 public:
  void prepare(Context& ctx) override;
  void step(Context& ctx) override;
  Verification verify(Context& ctx) override;

 protected:
  /// Declares the parameters batch, heads, seq, head_dim, dtype, causal, mode, and the phases.
  static Descriptor describe_as(const std::string& name, std::uint32_t order, const std::string& documentation);

  virtual std::unique_ptr<Attention> make(Context& ctx, bool causal) = 0;
  /// Called with the inputs before they are used; may skip unsupported cases.
  virtual void check(Context& ctx, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     bool causal);
  /// Number of times an implementation reads or writes a matrix of all scores; 0 if it stores none.
  virtual int score_passes(bool backward, bool causal) const = 0;

 private:
  void declare(Context& ctx) const;
  /// Sets a mark. On a GPU, the first call also reports the metric memory_before_backward, in bytes.
  void before_backward(Context& ctx);

  AttentionShape shape_;
  bool with_forward_ = true, with_backward_ = false, memory_reported_ = false;
  std::unique_ptr<Attention> attention_;
  at::Tensor query_, key_, value_, output_gradient_;  // [batch, heads, seq, head_dim]
  at::Tensor output_;                                 // of the forward pass whose gradient mode backward repeats
};

}  // namespace kymo::transformer
