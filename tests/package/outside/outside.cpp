// SPDX-License-Identifier: Apache-2.0
#include <kymo/workload.hpp>

std::int64_t triangle(std::int64_t n);

namespace {

struct First final : kymo::Workload {
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"first", "adds up"}.param("n", kymo::Int{4}, "numbers").phases({"compute"});
  }
  void step(kymo::Context& ctx) override {
    auto phase = ctx.phase("compute");
    sum_ = triangle(ctx.integer("n"));
  }
  std::int64_t sum_ = 0;
};

struct Second final : kymo::Workload {
  static kymo::Descriptor describe() { return {"second", "does nothing"}; }
  void step(kymo::Context&) override {}
};

}  // namespace

KYMO_EXPORT_WORKLOADS(First, Second)
