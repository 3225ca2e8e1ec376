// SPDX-License-Identifier: Apache-2.0
// Compilations that workloads and observed programs report.
#include <gtest/gtest.h>

#include "unit/worker/engine_fixture.hpp"

namespace kymo::worker {
namespace {

using event::CompilationKind;
using measure::Pass;

kymo_compilation compilation(std::uint32_t kind) {
  kymo_compilation made{};
  made.size = sizeof made;
  made.kind = kind;
  made.step = 1;
  made.program_step = 6;
  made.start_ns = now_ns();
  made.duration_ns = 500;
  made.inductor_ns = -1;
  made.function = "forward";
  made.file = "/code/train.py";
  made.reason = "";
  return made;
}

class CompilationsTest : public EngineTest {
 protected:
  CompilationsTest() {
    assignment = fake_assignment(Pass::kTime);
    assignment.method.warmup = 0;
    assignment.method.steps = 1;
  }
};

TEST_F(CompilationsTest, AreRecordedAsReported) {
  FakeWorkload workload;
  std::int64_t begun_ns = 0;
  workload.on_step = [&](const FakeHost& host) {
    begun_ns = now_ns();
    kymo_compilation made = compilation(KYMO_RECOMPILATION);
    made.line = 12;
    made.inductor_ns = 300;
    made.reason = "size mismatch";
    host.host->compilation(host.context, &made);
    made = compilation(KYMO_GRAPH_BREAK);
    made.function = nullptr;
    host.host->compilation(host.context, &made);
    made.kind = 77;  // of a later version
    host.host->compilation(host.context, &made);
    host.host->compilation(host.context, nullptr);
    return KYMO_OK;
  };
  const event::PassRecord record = run(workload).record;
  ASSERT_EQ(record.compilations.size(), 2u);
  const event::Compilation& first = record.compilations[0];
  EXPECT_EQ(first.kind, CompilationKind::kRecompilation);
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.program_step, 6);
  EXPECT_EQ(first.duration_ns, 500);
  EXPECT_EQ(first.inductor_ns, 300);
  EXPECT_EQ(first.function, "forward");
  EXPECT_EQ(first.file, "/code/train.py");
  EXPECT_EQ(first.line, 12);
  EXPECT_EQ(first.reason, "size mismatch");
  EXPECT_LT(first.start_ns, begun_ns) << "relative to the start of the run";
  const event::Compilation& second = record.compilations[1];
  EXPECT_EQ(second.kind, CompilationKind::kGraphBreak);
  EXPECT_EQ(second.function, "");
  EXPECT_FALSE(second.line);
  EXPECT_FALSE(second.inductor_ns);
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].source, "compilation");
  EXPECT_EQ(record.dropped_records[0].count, 1);
}

}  // namespace
}  // namespace kymo::worker
