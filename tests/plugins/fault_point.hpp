// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo/workload.hpp>
#include <string>

#include "begun.hpp"

namespace kymo::test {

/// The common parameter `where`: the function in which a plugin misbehaves.
inline kymo::Choice where() {
  return kymo::Choice{"step", {"create", "prepare", "before_step", "step", "verify", "destroy", "nowhere"}};
}

/// A workload that calls misbehave() in the function selected by `where`.
class Misbehaving : public kymo::Workload {
 public:
  /// Base constructors and destructors do not call overrides of derived classes, so each derived constructor and
  /// destructor checks for `create` and `destroy` itself.
  explicit Misbehaving(kymo::Context& ctx) : where_(ctx.text("where")), from_(ctx.integer("from_step")) {}
  void prepare(kymo::Context&) override { at("prepare"); }
  void before_step(kymo::Context&) override {
    if (steps_ >= from_) at("before_step");
  }
  void step(kymo::Context& ctx) override {
    auto phase = ctx.phase("compute");
    if (steps_ == 0) report_begun();
    if (steps_++ >= from_) at("step");
  }
  kymo::Verification verify(kymo::Context&) override {
    at("verify");
    return kymo::Verification{}.that(true, "nothing", "nothing");
  }

 protected:
  virtual void misbehave() = 0;
  bool is(const char* point) const { return where_ == point; }

 private:
  void at(const char* point) {
    if (is(point)) misbehave();
  }
  std::string where_;
  std::int64_t from_ = 0;
  std::int64_t steps_ = 0;
};

inline kymo::Descriptor describe(const char* documentation) {
  return kymo::Descriptor{KYMO_PLUGIN_NAME, documentation}
      .param("where", where(), "the function that misbehaves")
      .param("from_step", kymo::Int{0}.at_least(0), "the first step that misbehaves, counted from 0")
      .phases({"compute"});
}

}  // namespace kymo::test
