// SPDX-License-Identifier: Apache-2.0
// Standard attention: all scores in memory, a softmax over them, and a matrix multiplication with the values.
#include <kymo/workload.hpp>

#include "transformer/attention_workload.hpp"

namespace {

class AttentionNaive final : public kymo::transformer::AttentionWorkload {
 public:
  static kymo::Descriptor describe() {
    return describe_as("attention_naive", 0,
                       "attention as two matrix multiplications and a softmax, with all scores in memory. FLOPs: half "
                       "if causal, backward 2.5 times forward. Bytes include every pass over the scores")
        .title("naive");
  }

 private:
  std::unique_ptr<kymo::transformer::Attention> make(kymo::Context&, bool causal) override {
    return kymo::transformer::make_attention("naive", causal);
  }

  /// Forward: scores (1), softmax (2), values (1), and the mask (2). Backward: weights for the value gradient (1),
  /// their gradient (1), softmax (3), matrix multiplications for query and key (2).
  int score_passes(bool backward, bool causal) const override { return backward ? 7 : causal ? 6 : 4; }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(AttentionNaive)
