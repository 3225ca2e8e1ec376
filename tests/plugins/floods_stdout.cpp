// SPDX-License-Identifier: Apache-2.0
// Prints endlessly to stdout and stderr. A run must neither block nor store all of the output.
#include <cstdio>

#include "fault_point.hpp"

namespace {

class Floods final : public kymo::test::Misbehaving {
 public:
  static kymo::Descriptor describe() {
    return kymo::test::describe("prints a lot")
        .param("lines", kymo::Int{100'000}.at_least(0), "lines printed on each stream each time");
  }
  explicit Floods(kymo::Context& ctx) : Misbehaving(ctx), lines_(ctx.integer("lines")) {
    if (is("create")) misbehave();
  }
  ~Floods() noexcept(false) override {
    if (is("destroy")) misbehave();
  }

 protected:
  void misbehave() override {
    for (std::int64_t i = 0; i < lines_; ++i) {
      std::fprintf(stdout, "line %lld of a flood on standard output\n", static_cast<long long>(i));
      std::fprintf(stderr, "line %lld of a flood on standard error\n", static_cast<long long>(i));
    }
    std::fflush(stdout);
  }

 private:
  std::int64_t lines_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Floods)
