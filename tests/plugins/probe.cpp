// SPDX-License-Identifier: Apache-2.0
// A small, fast, valid workload that reports something through every host function, for tests of the host.
#include <unistd.h>

#include <kymo/workload.hpp>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "begun.hpp"

namespace {

class Probe final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"probe", "sleeps, and reports through every service"}
        .param("sleep", kymo::Int{100}.at_least(0).at_most(60'000'000).axis({100, 1000}).unit("us"),
               "how long each of the two phases sleeps")
        .param("fail_at", kymo::Int{-1}, "the step that throws, counted from 0; -1 for none")
        .param("oom_at", kymo::Int{-1}, "the step that runs out of memory, counted from 0; -1 for none")
        .param("fail_rank", kymo::Int{-1}, "the only rank that fails; -1 for all")
        .param("skip", kymo::Bool{false}, "skip in prepare()")
        .param("factor", kymo::Real{1.5}.at_least(0), "is reported as a metric")
        .param("label", kymo::Text{"plain"}, "is reported as a metric")
        .param("mode", kymo::Choice{"fast", {"fast", "slow"}}, "slow sleeps ten times as long")
        .param("answer", kymo::Choice{"passed", {"passed", "failed", "unavailable"}}, "what verify() answers")
        .phases({"first", "second"})
        .ranks(1);
  }

  void prepare(kymo::Context& ctx) override {
    if (ctx.boolean("skip")) ctx.skip("asked to skip");
    sleep_us_ = static_cast<useconds_t>(ctx.integer("sleep") * (ctx.text("mode") == "slow" ? 10 : 1));
    const std::int64_t only = ctx.integer("fail_rank");
    fails_here_ = only < 0 || only == ctx.rank();
    fail_at_ = ctx.integer("fail_at");
    oom_at_ = ctx.integer("oom_at");
    block_.assign(4096, 1.0);
    ctx.tag(block_.data(), block_.size() * sizeof(double), kymo::Block::Input);
    ctx.mark("prepared");
    ctx.work("first", 1e6, 4096);
    ctx.work("second", 2e6, 8192);
    ctx.metric("factor", ctx.real("factor"), "x");
    ctx.metric("label", ctx.text("label"));
    ctx.metric("ranks", ctx.world_size(), "ranks");
    ctx.metric("local_rank", ctx.local_rank(), "");
    ctx.log("rank " + std::to_string(ctx.rank()) + " of " + std::to_string(ctx.world_size()) + " is ready");
  }

  void before_step(kymo::Context&) override { block_[0] = static_cast<double>(steps_); }

  void step(kymo::Context& ctx) override {
    const std::int64_t step = steps_++;
    if (step == 0) kymo::test::report_begun();
    kymo::test::hold(step);
    {
      auto phase = ctx.phase("first");
      auto scope = ctx.scope("outer");
      {
        auto inner = ctx.scope("inner");
      }
      usleep(sleep_us_);
      if (fails_here_ && step == fail_at_)
        throw std::runtime_error("failed on purpose at step " + std::to_string(step));
      if (fails_here_ && step == oom_at_) throw std::bad_alloc();
    }
    auto phase = ctx.phase("second");
    {
      auto call = ctx.collective(kymo::Operation::Barrier, 0);
    }
    usleep(sleep_us_);
    ctx.metric("step_number", static_cast<double>(step), "", kymo::Per::Step);
  }

  kymo::Verification verify(kymo::Context& ctx) override {
    const std::string answer = ctx.text("answer");
    if (answer == "unavailable") return kymo::Verification::unavailable("asked to have no reference");
    std::vector<int> expected;
    for (int rank = 0; rank < ctx.world_size(); ++rank) expected.push_back(rank);
    kymo::Verification result;
    result.compare("ranks", "0, 1, 2 ...", ctx.all_gather(ctx.rank()), expected, 0);
    return result.that(answer == "passed", "answer", "the parameter", "is " + answer);
  }

 private:
  useconds_t sleep_us_ = 0;
  std::int64_t fail_at_ = -1;
  std::int64_t oom_at_ = -1;
  bool fails_here_ = true;
  std::int64_t steps_ = 0;
  std::vector<double> block_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Probe)
