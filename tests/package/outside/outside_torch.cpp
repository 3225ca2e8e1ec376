// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <torch/enum.h>  // of the second include directory

#include <kymo/workload.hpp>

namespace {

struct Ones final : kymo::Workload {
  static kymo::Descriptor describe() {
    return kymo::Descriptor{KYMO_PLUGIN_NAME, "sums ones"}.uses(kymo::Framework::LibTorch);
  }
  void prepare(kymo::Context&) override { ones_ = at::ones({8}); }
  void step(kymo::Context&) override { ones_.sum(); }
  at::Tensor ones_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Ones)
