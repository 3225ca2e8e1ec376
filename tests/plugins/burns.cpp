// SPDX-License-Identifier: Apache-2.0
// A valid workload that does a fixed amount of work on the CPU: a chain of dependent multiplications. For tests of
// `kymo ab`, whose candidates must differ by a known factor.
#include <cstdint>
#include <cstdio>
#include <kymo/workload.hpp>

namespace {

class Burns final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"burns", "dependent multiplications on one core"}
        .param("work", kymo::Int{1000}.at_least(1), "thousands of multiplications per step")
        .param("spare", kymo::Int{0}, "has no effect, so that equal workloads are different candidates")
        .phases({"burn"});
  }

  void prepare(kymo::Context& ctx) override {
    count_ = 1000 * ctx.integer("work");
    std::printf("burning %lld multiplications\n", static_cast<long long>(count_));
  }

  void step(kymo::Context& ctx) override {
    const auto phase = ctx.phase("burn");
    for (std::int64_t i = 0; i < count_; ++i) value_ = value_ * 6364136223846793005U + 1442695040888963407U;
    // Keeps the compiler from removing the loop.
    asm volatile("" : "+r"(value_));
  }

 private:
  std::int64_t count_ = 0;
  std::uint64_t value_ = 1;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Burns)
