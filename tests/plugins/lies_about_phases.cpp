// SPDX-License-Identifier: Apache-2.0
// Violates the rules for phases: through the C++ SDK if possible, otherwise through the C table.
#include <kymo/workload.hpp>
#include <string>

namespace {

class Lies final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{KYMO_PLUGIN_NAME, "begins and ends phases wrongly"}
        .param("how",
               kymo::Choice{"nested",
                            {"nested", "undeclared", "left_open", "end_without_begin", "in_prepare", "scope_left_open",
                             "honest"}},
               "the rule that is violated")
        .phases({"first", "second"});
  }
  void prepare(kymo::Context& ctx) override {
    how_ = ctx.text("how");
    if (how_ == "in_prepare") auto phase = ctx.phase("first");
  }
  void step(kymo::Context& ctx) override {
    if (how_ == "nested") {
      auto outer = ctx.phase("first");
      auto inner = ctx.phase("second");
    } else if (how_ == "undeclared") {
      auto phase = ctx.phase("third");
    } else if (how_ == "left_open") {
      if (ctx.host()->phase_begin) ctx.host()->phase_begin(ctx.handle(), "first", nullptr);
    } else if (how_ == "end_without_begin") {
      if (ctx.host()->phase_end) ctx.host()->phase_end(ctx.handle());
    } else if (how_ == "scope_left_open") {
      auto phase = ctx.phase("first");
      if (ctx.host()->scope_begin) ctx.host()->scope_begin(ctx.handle(), "open");
    } else {
      {
        auto phase = ctx.phase("first");
      }
      {
        auto phase = ctx.phase("second");
      }
    }
  }

 private:
  std::string how_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Lies)
