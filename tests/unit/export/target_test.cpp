// SPDX-License-Identifier: Apache-2.0
#include "export/target.hpp"

#include <gmock/gmock.h>

#include "export/export.hpp"
#include "sample_events.hpp"

namespace kymo::exports {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::ExportTest;
using ::testing::HasSubstr;
using ::testing::Not;

using ExportTarget = ExportTest;

const Wanted kTrace{{"trace", "ops"}, {"gpu_activity", "op", "range"}, "no kernel events"};

std::vector<std::string> words(const std::vector<Target>& targets) {
  std::vector<std::string> all;
  for (const Target& each : targets)
    all.push_back(std::to_string(each.run) + "/" + std::to_string(each.rank) + "/" + each.pass);
  return all;
}

TEST_F(ExportTarget, IsTheNewestRunThatHasSuchEventsOncePerRank) {
  EXPECT_THAT(words(find_targets(database(), {}, kTrace)), ElementsAre("3/0/trace", "3/1/trace"));
  EXPECT_THAT(words(find_targets(database(), {.run = {}, .rank = 1, .pass = {}}, kTrace)), ElementsAre("3/1/trace"));
  EXPECT_THAT(words(find_targets(database(), {.run = 3, .rank = {}, .pass = "ops"}, kTrace)), ElementsAre("3/0/ops"));
  execute(
      "INSERT INTO op SELECT 4, rank, 'time', sequence, parent, name_id, shapes_id, backward, start_ns, end_ns, "
      "self_ns, thread, autograd_sequence, step, phase_id, scope_id, attribution, stack FROM op WHERE run_id = 3");
  EXPECT_THAT(words(find_targets(database(), {}, kTrace)), ElementsAre("3/0/trace", "3/1/trace"))
      << "the time pass observes nothing";
}

TEST_F(ExportTarget, PrefersThePassWithDetails) {
  Wanted wanted = kTrace;
  wanted.details = {"gpu_activity", "op"};
  EXPECT_THAT(words(find_targets(database(), {}, wanted)), ElementsAre("3/0/trace", "3/1/trace"));
  EXPECT_THAT(other_passes(database(), {3, 0, "trace"}, wanted), ElementsAre("ops"));
  EXPECT_TRUE(other_passes(database(), {3, 1, "trace"}, wanted).empty());
  // As on a CPU, whose trace has only ranges.
  execute(
      "DELETE FROM gpu_activity; DELETE FROM op WHERE pass = 'trace'; INSERT OR IGNORE INTO range (run_id, rank, pass, "
      "sequence, kind, name_id, step, thread, start_ns, end_ns) SELECT run_id, rank, pass, 0, 'phase', 1, 0, 0, 0, 1 "
      "FROM rank WHERE run_id = 3 AND pass = 'trace'");
  EXPECT_THAT(words(find_targets(database(), {}, wanted)), ElementsAre("3/0/ops"));
  EXPECT_THAT(words(find_targets(database(), {.run = {}, .rank = {}, .pass = "trace"}, wanted)),
              ElementsAre("3/0/trace", "3/1/trace"));
}

TEST_F(ExportTarget, ThatIsNotThereIsRejectedWithWhatWouldBeRight) {
  const auto rejected = [&](const Choice& choice) {
    return error_of([&] { find_targets(database(), choice, kTrace); });
  };
  EXPECT_THAT(rejected({.run = 77, .rank = {}, .pass = {}}), HasSubstr("no run 77"));
  EXPECT_THAT(rejected({.run = 4, .rank = {}, .pass = {}}),
              HasSubstr("run 4 contains no kernel events; record a run with --passes trace or --passes ops"));
  EXPECT_THAT(rejected({.run = 1, .rank = {}, .pass = {}}), HasSubstr("--keep summary"));
  EXPECT_THAT(rejected({.run = 3, .rank = 5, .pass = {}}),
              HasSubstr("rank 5; it has pass ops of rank 0, pass trace of rank 0, pass trace of rank 1"));
  EXPECT_THAT(rejected({.run = {}, .rank = 1, .pass = "ops"}), HasSubstr("pass ops, rank 1"));
  EXPECT_THAT(rejected({.run = {}, .rank = {}, .pass = "time"}), HasSubstr("--pass takes trace, ops here, not 'time'"));
  execute("DELETE FROM gpu_activity; DELETE FROM op; DELETE FROM range");
  EXPECT_THAT(rejected({}), HasSubstr("--passes trace"));
}

TEST(ExportFiles, AreNamedAfterTheirRank) {
  const std::vector<Target> one{{3, 1, "trace"}};
  const std::vector<Target> two{{3, 0, "trace"}, {3, 1, "trace"}};
  EXPECT_THAT(files_for(one, "", "trace", ".json"), ElementsAre("trace-run3-rank1.json"));
  EXPECT_THAT(files_for(one, "out/x.json", "trace", ".json"), ElementsAre("out/x.json"));
  EXPECT_THAT(files_for(two, "out/x.json", "trace", ".json"), ElementsAre("out/x-rank0.json", "out/x-rank1.json"));
  EXPECT_THAT(files_for(one, "-", "trace", ".json"), ElementsAre("-"));
  EXPECT_THAT(error_of([&] { files_for(two, "-", "trace", ".json"); }), HasSubstr("--rank"));
}

}  // namespace
}  // namespace kymo::exports
