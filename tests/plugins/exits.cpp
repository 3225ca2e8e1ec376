// SPDX-License-Identifier: Apache-2.0
// Calls exit() during a run, with a configurable exit code (success by default).
#include <cstdlib>

#include "fault_point.hpp"

namespace {

class Exits final : public kymo::test::Misbehaving {
 public:
  static kymo::Descriptor describe() {
    return kymo::test::describe("exits").param("code", kymo::Int{0}.at_least(0).at_most(255), "exit code");
  }
  explicit Exits(kymo::Context& ctx) : Misbehaving(ctx), code_(static_cast<int>(ctx.integer("code"))) {
    if (is("create")) misbehave();
  }
  ~Exits() noexcept(false) override {
    if (is("destroy")) misbehave();
  }

 protected:
  void misbehave() override { std::exit(code_); }

 private:
  int code_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Exits)
