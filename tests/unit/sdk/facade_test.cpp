// SPDX-License-Identifier: Apache-2.0
// A workload written against the façade, called through the C table by a host that records all calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <kymo/workload.hpp>
#include <stdexcept>
#include <thread>

#include "fake_host.hpp"

namespace c10 {
struct OutOfMemoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace c10

namespace {

using kymo::test::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::function<void(kymo::Context&)> on_step;
std::function<kymo::Verification()> on_verify;
bool throw_in_constructor = false;
bool throw_in_destructor = false;
int alive = 0;

class Tested final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"tested", "for tests"}
        .param("n", kymo::Int{3}, "count")
        .optional_phases({"compute"})
        .ranks(2, 8)
        .asynchronous();
  }
  Tested() {
    if (throw_in_constructor) throw std::runtime_error("no instance");
    ++alive;
  }
  ~Tested() noexcept(false) override {
    --alive;
    if (throw_in_destructor) throw std::runtime_error("no end");
  }
  void step(kymo::Context& ctx) override { on_step(ctx); }
  kymo::Verification verify(kymo::Context&) override { return on_verify(); }
};

const kymo_workload* tested() { return kymo::detail::plugin_of<Tested>()->workload(0); }

/// One instance of the workload, created and destroyed through the table.
class Facade : public ::testing::Test {
 protected:
  void SetUp() override {
    throw_in_constructor = throw_in_destructor = false;
    ASSERT_EQ(tested()->create(tested(), &host_.table(), host_.context(), &instance_), KYMO_OK);
  }
  void TearDown() override {
    if (instance_) tested()->destroy(instance_);
    EXPECT_EQ(alive, 0);
  }
  kymo_status step(std::function<void(kymo::Context&)> body) {
    on_step = std::move(body);
    return tested()->step(instance_, host_.context());
  }

  FakeHost host_;
  void* instance_ = nullptr;
};

TEST_F(Facade, DescribesItself) {
  EXPECT_EQ(tested()->size, sizeof(kymo_workload));
  EXPECT_EQ(tested()->flags, std::uint32_t{KYMO_STEP_IS_ASYNCHRONOUS | KYMO_PHASES_ARE_OPTIONAL});
  EXPECT_EQ(tested()->devices, std::uint32_t{KYMO_CPU})
      << "without a framework a workload runs on CPU unless it says otherwise";
  EXPECT_EQ(tested()->min_ranks, 2u);
  EXPECT_EQ(tested()->max_ranks, 8u);
}

TEST_F(Facade, ReadsTypedParameters) {
  host_.set("n", std::int64_t{-5});
  host_.set("rate", 0.25);
  host_.set("causal", true);
  host_.set("dtype", "bf16");
  EXPECT_EQ(step([](kymo::Context& ctx) {
              EXPECT_EQ(ctx.integer("n"), -5);
              EXPECT_EQ(ctx.real("rate"), 0.25);
              EXPECT_TRUE(ctx.boolean("causal"));
              EXPECT_EQ(ctx.text("dtype"), "bf16");
              EXPECT_THROW(ctx.integer("dtype"), std::invalid_argument);
              EXPECT_THROW(ctx.text("n"), std::invalid_argument);
              EXPECT_EQ(ctx.seed(), 7u);
            }),
            KYMO_OK);
  EXPECT_EQ(step([](kymo::Context& ctx) { ctx.integer("m"); }), KYMO_FAILED);
  EXPECT_THAT(host_.said, ElementsAre("fail 1 no parameter 'm': declare it in describe()"));
}

TEST_F(Facade, KnowsItsPlacement) {
  host_.placement = {sizeof(kymo_placement), 3, 4, 1, KYMO_CUDA, 2, "node7", 29500, 0};
  EXPECT_EQ(step([](kymo::Context& ctx) {
              EXPECT_EQ(ctx.rank(), 3);
              EXPECT_EQ(ctx.world_size(), 4);
              EXPECT_EQ(ctx.local_rank(), 1);
              EXPECT_TRUE(ctx.is_cuda());
              EXPECT_EQ(ctx.device(), kymo::Device::Cuda);
              EXPECT_EQ(ctx.device_index(), 2);
              EXPECT_EQ(ctx.rendezvous().host, "node7");
              EXPECT_EQ(ctx.rendezvous().port, 29500);
            }),
            KYMO_OK);
}

TEST_F(Facade, BracketsPhasesAndScopes) {
  step([](kymo::Context& ctx) {
    {
      auto phase = ctx.phase("compute");
      auto scope = ctx.scope(std::string("layer ") + "3");
    }
    auto phase = ctx.phase("rest");
    phase.end();
    phase.end();
  });
  EXPECT_THAT(host_.said,
              ElementsAre("phase compute", "scope layer 3", "scope end", "phase end", "phase rest", "phase end"));
}

TEST_F(Facade, EndsPhasesWhenAnExceptionPasses) {
  EXPECT_EQ(step([](kymo::Context& ctx) {
              auto phase = ctx.phase("compute");
              throw std::runtime_error("stop");
            }),
            KYMO_FAILED);
  EXPECT_THAT(host_.said, ElementsAre("phase compute", "phase end", "fail 1 stop"));
}

TEST_F(Facade, FailsWhenAPhaseIsRejected) {
  host_.reject_phases = true;
  EXPECT_EQ(step([](kymo::Context& ctx) { auto phase = ctx.phase("unknown"); }), KYMO_FAILED);
  EXPECT_THAT(host_.said, ElementsAre("phase unknown", HasSubstr("phase 'unknown' was rejected")));
}

TEST_F(Facade, PassesReportsOn) {
  step([](kymo::Context& ctx) {
    ctx.work("compute", 2, 8);
    ctx.metric("loss", 0.5, "nats", kymo::Per::Step);
    ctx.metric("algorithm", "ring");
    ctx.metric("layers", 12);
    ctx.mark("weights loaded");
    ctx.tag(&ctx, 64, kymo::Block::Gradient);
    ctx.log(kymo::Level::Warning, "slow");
    kymo::Collective moved = [&] { return ctx.collective(kymo::Operation::AllReduce, 1024); }();
    moved.end();
  });
  EXPECT_THAT(host_.said, ElementsAre("work compute 2.000000 8.000000", "metric 1 loss 0.500000 nats",
                                      "metric 0 algorithm 'ring'", "metric 0 layers 12.000000 ", "mark weights loaded",
                                      "tag 64 2", "log 2 slow", "collective 1 1024", "collective end 77"));
}

TEST_F(Facade, ReportsCollectivesOfNamedCommunicators) {
  step([](kymo::Context& ctx) {
    kymo::Collective held;
    held.end();
    held = ctx.collective({kymo::Operation::AllGather, 64, nullptr, "tensor", 8});
    std::thread([&] {
      held = ctx.collective({.operation = kymo::Operation::Barrier, .communicator = nullptr, .sequence = 2});
    }).join();
    held.end();
    held.end();
  });
  EXPECT_THAT(host_.said,
              ElementsAre("collective 3 64 tensor 8", "collective 5 0 - 2", "collective end 77", "collective end 78"));
}

TEST(QueuedOn, TellsTheDefaultStreamFromNone) {
  int stream = 0;
  EXPECT_EQ(kymo::queued_on(&stream), &stream);
  EXPECT_EQ(kymo::queued_on(nullptr), reinterpret_cast<void*>(std::uintptr_t{1})) << "cudaStreamLegacy";
}

TEST_F(Facade, EndsACollectiveWhenAnExceptionPasses) {
  EXPECT_EQ(step([](kymo::Context& ctx) {
              auto call = ctx.collective(kymo::Operation::Broadcast, 4);
              throw std::runtime_error("stop");
            }),
            KYMO_FAILED);
  EXPECT_THAT(host_.said, ElementsAre("collective 4 4", "collective end 77", "fail 1 stop"));
}

TEST_F(Facade, DoesNothingForServicesThatAreAbsent) {
  kymo_host& table = host_.table();
  const auto placement = table.placement;
  table = {};
  table.size = sizeof(kymo_host);
  table.placement = placement;
  EXPECT_EQ(step([](kymo::Context& ctx) {
              auto phase = ctx.phase("compute");
              auto scope = ctx.scope("inner");
              auto call = ctx.collective(kymo::Operation::Barrier, 0);
              ctx.work("compute", 1, 1);
              ctx.metric("a", 1.0);
              ctx.metric("b", "text");
              ctx.mark("m");
              ctx.tag(nullptr, 0, kymo::Block::Input);
              ctx.log("l");
              EXPECT_FALSE(ctx.cancelled());
              EXPECT_EQ(ctx.seed(), 0u);
              EXPECT_THAT(ctx.all_gather(5), ElementsAre(5)) << "one rank needs no host to gather";
            }),
            KYMO_OK);
  EXPECT_EQ(step([](kymo::Context&) { throw std::runtime_error("nobody hears it"); }), KYMO_FAILED);
  EXPECT_EQ(step([](kymo::Context& ctx) { ctx.skip("nobody hears it"); }), KYMO_SKIPPED);
  EXPECT_THAT(host_.said, IsEmpty());
}

TEST_F(Facade, GathersInRankOrder) {
  host_.placement.world_size = 3;
  step([](kymo::Context& ctx) {
    EXPECT_THAT(ctx.all_gather(2.5), ElementsAre(2.5, 2.5, 2.5));
    EXPECT_THAT(ctx.all_gather(std::vector<int>{1, 2}), ElementsAre(1, 2, 1, 2, 1, 2));
  });
  host_.reject_gather = true;
  EXPECT_EQ(step([](kymo::Context& ctx) { ctx.all_gather(1); }), KYMO_FAILED);
}

TEST_F(Facade, TurnsWhatIsThrownIntoAStatus) {
  EXPECT_EQ(step([](kymo::Context&) { throw std::bad_alloc(); }), KYMO_OUT_OF_MEMORY);
  EXPECT_EQ(step([](kymo::Context&) { throw c10::OutOfMemoryError("CUDA out of memory"); }), KYMO_OUT_OF_MEMORY);
  EXPECT_EQ(step([](kymo::Context&) { throw 42; }), KYMO_FAILED);
  EXPECT_EQ(step([](kymo::Context&) { throw "text"; }), KYMO_FAILED);
  EXPECT_EQ(step([](kymo::Context&) { throw std::logic_error("odd"); }), KYMO_FAILED);
  EXPECT_THAT(host_.said, ElementsAre("fail 2 std::bad_alloc: host memory could not be allocated",
                                      "fail 2 CUDA out of memory", "fail 1 a value of type 'int' was thrown",
                                      "fail 1 a value of type 'char const*' was thrown", "fail 1 odd"));
}

TEST_F(Facade, SkipPassesTheWorkloadsOwnHandlers) {
  EXPECT_EQ(step([](kymo::Context& ctx) {
              try {
                ctx.skip("needs two GPUs");
              } catch (const std::exception&) {
                FAIL() << "skip is no error of the workload";
              }
            }),
            KYMO_SKIPPED);
  EXPECT_THAT(host_.said, ElementsAre("skip needs two GPUs"));
}

TEST_F(Facade, ReportsChecks) {
  on_verify = [] {
    return kymo::Verification{}
        .within("loss", "reference", {1e-5, 1e-3}, 1e-4)
        .that(false, "order", "sorted", "7 before 3");
  };
  kymo_verification found{sizeof(kymo_verification), 0, nullptr};
  ASSERT_EQ(tested()->verify(instance_, host_.context(), &found), KYMO_OK);
  ASSERT_EQ(found.check_count, 2u);
  EXPECT_EQ(found.checks[0].size, sizeof(kymo_check));
  EXPECT_EQ(found.checks[0].outcome, std::uint32_t{KYMO_CHECK_PASSED});
  EXPECT_STREQ(found.checks[0].name, "loss");
  EXPECT_EQ(found.checks[0].max_abs_error, 1e-5);
  EXPECT_EQ(found.checks[0].tolerance, 1e-4);
  EXPECT_EQ(found.checks[1].outcome, std::uint32_t{KYMO_CHECK_FAILED});
  EXPECT_STREQ(found.checks[1].detail, "7 before 3");
}

TEST_F(Facade, NoCheckIsNotAPass) {
  on_verify = [] { return kymo::Verification{}; };
  kymo_verification found{sizeof(kymo_verification), 0, nullptr};
  ASSERT_EQ(tested()->verify(instance_, host_.context(), &found), KYMO_OK);
  ASSERT_EQ(found.check_count, 1u);
  EXPECT_EQ(found.checks[0].outcome, std::uint32_t{KYMO_CHECK_UNAVAILABLE});
  on_verify = []() -> kymo::Verification { throw std::runtime_error("no reference file"); };
  EXPECT_EQ(tested()->verify(instance_, host_.context(), &found), KYMO_FAILED);
}

TEST_F(Facade, SurvivesAConstructorThatThrows) {
  throw_in_constructor = true;
  void* other = nullptr;
  EXPECT_EQ(tested()->create(tested(), &host_.table(), host_.context(), &other), KYMO_FAILED);
  EXPECT_EQ(other, nullptr);
  EXPECT_THAT(host_.said, ElementsAre("fail 1 no instance"));
}

TEST_F(Facade, LogsADestructorThatThrows) {
  throw_in_destructor = true;
  tested()->destroy(instance_);
  instance_ = nullptr;
  EXPECT_THAT(host_.said, ElementsAre("log 3 the workload's destructor threw: no end"));
  tested()->destroy(nullptr);
}

TEST_F(Facade, AContextMayBeCopiedToAnotherThread) {
  step([](kymo::Context& ctx) {
    std::thread other([copy = ctx] { auto scope = copy.scope("backward"); });
    other.join();
    EXPECT_FALSE(ctx.cancelled());
  });
  EXPECT_THAT(host_.said, ElementsAre("scope backward", "scope end"));
  host_.is_cancelled = 1;
  step([](kymo::Context& ctx) { EXPECT_TRUE(ctx.cancelled()); });
}

class Undescribable final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() { throw std::runtime_error("no description"); }
  void step(kymo::Context&) override {}
};

TEST(FacadeTable, IsAbsentWhenDescribeThrows) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ((kymo::detail::plugin_of<Tested, Undescribable>()), nullptr);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("no description"));
}

}  // namespace
