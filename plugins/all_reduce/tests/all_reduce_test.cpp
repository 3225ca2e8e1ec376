// SPDX-License-Identifier: Apache-2.0
// The collectives benchmark, called through its C table by one and by several ranks on the CPU.
#include <gmock/gmock.h>

#include <string>

#include "unit/comm/ranks.hpp"
#include "unit/plugins/driven.hpp"

namespace {

/// Placement of this rank's process; a process runs one workload.
kymo_placement here;

/// Runs the workload as one rank, and returns the number of passed checks of verify().
std::size_t drive(RankHost& rank, FakeHost& fake, const std::map<std::string, FakeHost::Value>& changes) {
  here = *rank.context().host()->placement(rank.context().handle());
  kymo_host host = *fake.host();
  host.placement = [](kymo_context*) -> const kymo_placement* { return &here; };
  fake.parameters = {{"backend", std::string("auto")},
                     {"operation", std::string("all_reduce")},
                     {"bytes", std::int64_t{1 << 16}},
                     {"dtype", std::string("fp32")},
                     {"in_place", true},
                     {"calls", std::int64_t{1}},
                     {"own_stream", false}};
  for (const auto& [name, value] : changes) fake.parameters[name] = value;
  const kymo_workload& table = *load("all_reduce");
  void* instance = nullptr;
  EXPECT_EQ(table.create(&table, &host, fake.handle(), &instance), KYMO_OK) << fake.message;
  EXPECT_EQ(table.prepare(instance, fake.handle()), KYMO_OK) << fake.message;
  for (int step = 0; step < 3; ++step) EXPECT_EQ(table.step(instance, fake.handle()), KYMO_OK) << fake.message;
  kymo_verification found{};
  found.size = sizeof found;
  EXPECT_EQ(table.verify(instance, fake.handle(), &found), KYMO_OK) << fake.message;
  std::size_t passed = 0;
  for (std::uint32_t i = 0; i < found.check_count; ++i) {
    EXPECT_EQ(found.checks[i].outcome, std::uint32_t{KYMO_CHECK_PASSED})
        << found.checks[i].name << ": " << found.checks[i].detail;
    passed += found.checks[i].outcome == KYMO_CHECK_PASSED;
  }
  table.destroy(instance);
  return passed;
}

// verify() itself covers sizes, in place and out of place.
TEST(AllReduce, EveryOperationAndTypeIsVerified) {
  const std::pair<const char*, const char*> cases[] = {{"all_reduce", "bf16"}, {"reduce_scatter", "bf16"},
                                                       {"all_gather", "fp16"}, {"broadcast", "fp16"},
                                                       {"all_reduce", "fp32"}, {"all_reduce", "fp16"}};
  for (const int ranks : {1, 3}) {
    on_ranks(ranks, [&](RankHost& rank) {
      bool in_place = false;
      for (const auto& [operation, type] : cases) {
        in_place = !in_place;
        FakeHost fake;
        EXPECT_EQ(drive(rank, fake,
                        {{"operation", std::string(operation)}, {"dtype", std::string(type)}, {"in_place", in_place}}),
                  10u)
            << operation << " " << type;
        EXPECT_THAT(fake.phases, testing::ElementsAre("communication", "communication", "communication"));
      }
    });
  }
}

TEST(AllReduce, ReportsItsMessageAndDeclaresNoMemoryTraffic) {
  on_ranks(2, [](RankHost& rank) {
    FakeHost fake;
    drive(rank, fake, {{"bytes", std::int64_t{1001}}, {"dtype", std::string("bf16")}});
    EXPECT_EQ(fake.numbers.at("message_bytes"), 1000) << "a whole number of elements for each rank";
    EXPECT_EQ(fake.numbers.at("world_size"), 2);
    EXPECT_THAT(fake.texts.at("communicator"), testing::HasSubstr("Gloo"));
    EXPECT_TRUE(fake.work.empty()) << "bytes over links would be compared with the peak of the memory";
    FakeHost gather;
    drive(rank, gather, {{"operation", std::string("all_gather")}, {"bytes", std::int64_t{1}}});
    EXPECT_EQ(gather.numbers.at("message_bytes"), 8) << "at least one element for each rank";
  });
}

TEST(AllReduce, RejectsNcclOnTheCpu) {
  Driven run("all_reduce", {{"backend", std::string("nccl")}});
  EXPECT_EQ(run.prepare(), KYMO_FAILED);
  EXPECT_THAT(run.host.message, testing::HasSubstr("needs a GPU"));
}

}  // namespace
