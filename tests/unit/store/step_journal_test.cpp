// SPDX-License-Identifier: Apache-2.0
#include "store/step_journal.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/file.hpp"
#include "store/journal_recovery.hpp"
#include "store/open.hpp"
#include "unit/store/fixture.hpp"
#include "unit/store/journal_fixture.hpp"

namespace kymo::store::testing {
namespace {

using measure::Pass;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;
using namespace std::string_literals;

constexpr std::int64_t kRunStart = 50'000;

JournalHeader header(std::optional<std::int64_t> steps = 10) {
  JournalHeader header{.warmup = 2, .run_start_ns = kRunStart, .steps = steps, .device = {}};
  header.device.uuid = "a-device";
  header.device.kind = "cpu";
  header.device.name = "a processor";
  return header;
}

/// A step of 1000 + `step` ns, all of it in phase "forward", which was entered twice.
event::StepTime time_of(std::int64_t step) {
  event::StepTime time;
  time.step = step;
  time.begin_ns = kRunStart + 2000 * step;
  time.end_ns = time.begin_ns + 1000 + step;
  time.cpu_ns = 7;
  time.warmup = step < 2;
  return time;
}

std::vector<event::PhaseTime> phases_of(std::int64_t step) {
  return {{.calls = 2, .start_ns = time_of(step).begin_ns, .host_ns = 1000 + step}, {}};
}

class OpenJournal : public StepJournal {
 public:
  using StepJournal::add;
  OpenJournal(const std::filesystem::path& rank_file, const JournalHeader& header) : StepJournal(rank_file, header) {
    set_phases({"forward", "backward"});
  }
  void add(std::int64_t step, std::span<const event::Metric> metrics = {}) {
    add(metrics);
    add(time_of(step), phases_of(step));
  }
};

class Journal : public StoreTest {
 protected:
  std::filesystem::path rank_file() const { return path("RUN-3-1-ops.kymo"); }
  std::filesystem::path journal_file() const { return path("RUN-3-1-ops.kymo.steps"); }
  std::optional<std::int64_t> recover() { return recover_from_journal(rank_file(), 3, 1, Pass::kOps, damaged()); }
  std::filesystem::path damaged() const { return path("results.db.damaged"); }
};

TEST_F(Journal, StepsOfAKilledProcessAreRecovered) {
  const pid_t child = fork();
  if (child == 0) {
    OpenJournal journal(rank_file(), header());
    event::Metric metric;
    metric.name = "first_step";
    metric.number = 2;
    for (std::int64_t step = 0; step < 5; ++step) journal.add(step, {&metric, step == 0 ? 1u : 0u});
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(recover(), Optional(3));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->text("SELECT group_concat(step || ':' || host_ns || ':' || calls || ':' || warmup, ' ') FROM sample "
                        "WHERE run_id = 3 AND rank = 1 AND pass = 'ops' AND phase = 'forward'"),
            "0:1000:2:1 1:1001:2:1 2:1002:2:0 3:1003:2:0 4:1004:2:0");
  EXPECT_EQ(found->integer("SELECT count(*) FROM sample WHERE cpu_ns = 7 AND device_ns IS NULL"), 5);
  EXPECT_EQ(found->text("SELECT group_concat(phase || ':' || start_ns || ':' || host_ns, ' ') FROM "
                        "(SELECT * FROM sample WHERE step = 4 ORDER BY phase)"),
            "forward:8000:1004 other:8000:0 step:8000:1004");
  EXPECT_EQ(found->text("SELECT level || value || name FROM metric"), "run2.0first_step");
  EXPECT_EQ(found->text("SELECT kind || ': ' || detail FROM warning"),
            "fewer steps: the program ended after 3 of the 10 steps to measure");
  EXPECT_EQ(found->text("SELECT name FROM device"), "a processor");
  EXPECT_EQ(found->integer("SELECT count(*) FROM dropped_record WHERE source = 'store' AND count = -1"), 1);
  EXPECT_FALSE(std::filesystem::exists(journal_file()));
}

/// Writes the next block of a journal as an observed program does, with or without its kind. Returns its size.
std::size_t write_step(StepJournal& journal, std::span<std::byte> room, std::int64_t step, bool is_complete) {
  const event::StepTime time = time_of(step);
  const std::vector<event::PhaseTime> phases = phases_of(step);
  const std::size_t phase_bytes = phases.size() * sizeof(phases[0]);
  std::byte* const content = room.data() + kBlockHeadBytes;
  std::memcpy(content, &time, sizeof(time));
  std::memcpy(content + sizeof(time), phases.data(), phase_bytes);
  kymo_block_head head{static_cast<std::uint32_t>(BlockKind::kStep),
                       static_cast<std::uint32_t>(sizeof(time) + phase_bytes), journal.addition(), 0};
  head.checksum = kymo_block_checksum(&head, journal.offset(), content);
  if (!is_complete) head.kind = 0;
  std::memcpy(room.data(), &head, sizeof(head));
  return kBlockHeadBytes + head.bytes;
}

TEST_F(Journal, StepsThatTheProgramWritesItselfAreRecovered) {
  constexpr std::int64_t kSteps = 5000;  // several chunks
  {
    OpenJournal journal(rank_file(), header(std::nullopt));
    for (std::int64_t step = 0; step < kSteps; step += 2) {
      const std::span<std::byte> room = journal.room_for(300);
      ASSERT_GE(room.size(), 300u);
      const std::size_t written = write_step(journal, room, step, true);
      journal.use_room(written, 1);
      event::Metric metric;
      metric.name = "m";
      journal.add({&metric, 1});
    }
    write_step(journal, journal.room_for(200), kSteps, false);
  }
  EXPECT_THAT(recover(), Optional(kSteps / 2 - 1));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->integer("SELECT count(*) FROM metric"), kSteps / 2);
  EXPECT_EQ(found->integer("SELECT sum(step) FROM sample WHERE phase = 'forward'"), (kSteps - 2) * kSteps / 4);
}

/// An operator of a step, in its own range; the one after it is its child. `texts` are those of the journal.
void add_events(event::NewEvents& events, std::int32_t step) {
  events.clear();
  event::Range range;
  range.name = events.texts.intern("layer");
  range.path = events.texts.intern("Model/layer");
  range.step = step;
  range.phase = 0;
  range.start_ns = 100 * step;
  range.end_ns = 100 * step + 90;
  events.ranges.push_back({step, range});
  for (const std::int32_t number : {2 * step + 1, 2 * step}) {  // the order of threads is unspecified
    event::Operator call;
    call.name = events.texts.intern(number % 2 ? "aten::addmm" : "aten::linear");
    call.parent = number % 2 ? number - 1 : -1;
    call.start_ns = 100 * step + number % 2;
    call.end_ns = call.start_ns + 50;
    call.position.step = step;
    call.position.phase = 0;
    call.position.range = step;
    events.operators.push_back({number, call});
  }
}

TEST_F(Journal, OperatorsAndScopesOfCompleteStepsAreRecovered) {
  constexpr std::int32_t kSteps = 3000;  // several chunks
  {
    OpenJournal journal(rank_file(), header(std::nullopt));
    event::NewEvents events;
    for (std::int32_t step = 0; step < kSteps; ++step) {
      add_events(events, step);
      journal.add(events);
      journal.add(step);
    }
  }
  EXPECT_THAT(recover(), Optional(kSteps - 2));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->integer("SELECT count(*) FROM range WHERE end_ns - start_ns = 90"), kSteps);
  EXPECT_EQ(found->text("SELECT n.text || o.start_ns || ' ' || p.text || ' ' || s.text || ' ' || o.parent FROM op o "
                        "JOIN string n ON n.string_id = o.name_id JOIN string p ON p.string_id = o.phase_id "
                        "JOIN string s ON s.string_id = o.scope_id WHERE o.step = 7 AND o.parent IS NOT NULL"),
            "aten::addmm701 forward Model/layer 14");
  EXPECT_EQ(found->integer("SELECT count(*) FROM op WHERE parent IS NULL"), kSteps);
  EXPECT_EQ(found->integer("SELECT sum(calls) FROM op_total"), 2 * (kSteps - 2));
  EXPECT_THAT(found->text("SELECT detail FROM dropped_record WHERE source = 'store'"),
              ::testing::HasSubstr("those since its last complete step are missing"));
}

TEST_F(Journal, CollectiveCallsAndCompilationsAreRecovered) {
  {
    OpenJournal journal(rank_file(), header(std::nullopt));
    event::NewEvents events;
    for (std::int32_t step = 0; step < 4; ++step) {
      add_events(events, step);
      event::Collective call;
      call.operation = event::CollectiveOperation::kReduceScatter;
      call.communicator = events.texts.intern("group 1");
      call.sequence = step;
      call.bytes = 4096;
      call.group_ranks = 2;
      call.dtype = "bf16";
      call.position.step = step;
      call.position.phase = 1;
      call.enqueue_ns = 100 * step + 10;
      if (step > 0) {  // the previous call has returned meanwhile
        events.collectives.push_back({step - 1, call});
        events.collectives.back().event.sequence = step - 1;
        events.collectives.back().event.position.step = step - 1;
        events.collectives.back().event.enqueue_ns = 100 * (step - 1) + 10;
        events.collectives.back().event.returned_ns = 100 * (step - 1) + 30;
      }
      events.collectives.push_back({step, call});
      journal.add(events);
      event::Compilation compilation;
      compilation.kind = event::CompilationKind::kRecompilation;
      compilation.step = step;
      compilation.function = "forward";
      compilation.line = 12;
      compilation.reason = "a \"shape\" changed";
      journal.add({&compilation, step == 2 ? 1u : 0u});
      journal.add(step);
    }
  }
  EXPECT_THAT(recover(), Optional(2));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->text("SELECT group_concat(step || ':' || call_number || ':' || bytes || ':' || dtype || ':' || "
                        "operation || ':' || group_ranks, ' ') FROM (SELECT * FROM collective ORDER BY step)"),
            "0:0:4096:bf16:reduce_scatter:2 1:1:4096:bf16:reduce_scatter:2 2:2:4096:bf16:reduce_scatter:2 "
            "3:3:4096:bf16:reduce_scatter:2");
  EXPECT_EQ(found->integer("SELECT count(*) FROM collective WHERE returned_ns - enqueue_ns = 20"),
            3);  // the last did not end
  EXPECT_EQ(found->text("SELECT kind || step || function || line || reason FROM compilation"),
            "recompilation2forward12a \"shape\" changed");
}

/// Adds a kernel with its launch, a copy within a graph, and what else is recorded of a GPU.
void add_device_events(event::NewEvents& events, std::int32_t step) {
  const auto correlation = static_cast<std::uint32_t>(step);
  event::Position position;
  position.step = step;
  position.phase = 0;
  position.range = step;
  events.launches.push_back({correlation, event::LaunchKind::kKernel, 100 * step + 5, position});
  event::Activity kernel;
  kernel.name = events.texts.intern(step % 2 ? "gemm" : "softmax");
  kernel.correlation_id = correlation;
  kernel.start_ns = 100 * step + 10;
  kernel.end_ns = 100 * step + 60;
  kernel.shape = static_cast<std::uint32_t>(events.shapes.size());
  events.shapes.push_back({{step, 1, 1}, {128, 1, 1}, 0, 0, 32});
  events.activities.push_back(kernel);
  position.phase = 1;
  events.graph_nodes.push_back({77, position});  // the same number in each step
  event::Activity copy;
  copy.kind = event::ActivityKind::kMemcpy;
  copy.name = events.texts.intern("memcpy");
  copy.graph_node = 77;
  copy.correlation_id = correlation;
  copy.bytes = 4096;
  copy.start_ns = 100 * step + 70;
  copy.end_ns = 100 * step + 80;
  events.activities.push_back(copy);
  events.api_calls.push_back({100 * step + 1, 100 * step + 2, events.texts.intern("cudaLaunchKernel"), 1, 9});
  events.synchronizations.push_back({"stream event", 100 * step + 3, 100 * step + 4, 7, 1});
  events.overhead_records.push_back({"buffer flush", 100 * step + 3, 100 * step + 4});
  if (step == 0) events.clock_syncs.push_back({"cupti", 1, 2, 3});
  event::GpuSample sample;
  sample.step = step;
  sample.power_mw = 250'000;
  events.gpu_samples.push_back(sample);
  event::GpuUtilization utilization;
  utilization.start_ns = 100 * step;
  utilization.end_ns = 100 * step + 100;
  utilization.tensor_utilization = 0.75;
  events.gpu_utilization.push_back(utilization);
  events.memory_counters.push_back({step, 100 * step, 512, 1024, 1});
}

TEST_F(Journal, KernelsAreRecoveredWithTheirPhaseAndScope) {
  constexpr std::int32_t kSteps = 5;
  {
    OpenJournal journal(rank_file(), header(std::nullopt));
    event::NewEvents events;
    for (std::int32_t step = 0; step < kSteps; ++step) {
      add_events(events, step);
      add_device_events(events, step);
      journal.add(events);
      journal.add(step);
    }
  }
  EXPECT_THAT(recover(), Optional(3));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->text("SELECT group_concat(n.text || ':' || k.step || ':' || p.text || ':' || s.text || ':' || "
                        "(k.end_ns - k.start_ns), ' ') FROM gpu_activity k JOIN string n ON n.string_id = k.name_id "
                        "JOIN string p ON p.string_id = k.phase_id JOIN string s ON s.string_id = k.scope_id "
                        "WHERE k.launch_config IS NOT NULL AND k.step > 2"),
            "gemm:3:forward:Model/layer:50 softmax:4:forward:Model/layer:50");
  EXPECT_EQ(found->integer("SELECT sum(calls) FROM kernel_total WHERE kind = 'kernel'"), 3);
  EXPECT_EQ(
      found->text("SELECT group_concat(c.grid_x, ' ') FROM gpu_activity k JOIN launch_config c USING (launch_config)"),
      "0 1 2 3 4");
  EXPECT_EQ(found->integer(
                "SELECT count(*) FROM gpu_activity c JOIN string p ON p.string_id = c.phase_id "
                "WHERE c.launch_config IS NULL AND p.text = 'backward' AND bytes = 4096 AND attribution = 'graph'"),
            kSteps);
  EXPECT_EQ(found->text("SELECT DISTINCT n.text || thread FROM api_call JOIN string n ON n.string_id = name_id"),
            "cudaLaunchKernel9");
  EXPECT_EQ(found->integer("SELECT count(*) FROM synchronization WHERE kind = 'stream event' AND stream = 7"), kSteps);
  EXPECT_EQ(found->integer("SELECT count(*) FROM cupti_overhead WHERE kind = 'buffer flush'"), kSteps);
  EXPECT_EQ(found->text("SELECT clock || clock_ns || error_ns FROM clock_sync"), "cupti23");
  EXPECT_EQ(found->integer("SELECT count(*) FROM gpu_sample WHERE power_mw = 250000 AND sm_clock_mhz IS NULL"), kSteps);
  EXPECT_EQ(found->integer("SELECT count(*) FROM gpu_utilization WHERE tensor_utilization = 0.75 AND "
                           "sm_utilization IS NULL AND end_ns - start_ns = 100"),
            kSteps);
  EXPECT_EQ(found->integer("SELECT count(*) FROM memory_counter WHERE reserved_bytes = 1024"), kSteps);
  EXPECT_THAT(found->text("SELECT detail FROM dropped_record WHERE source = 'store'"),
              ::testing::HasSubstr("which CUPTI had not delivered"));
}

TEST_F(Journal, MemoryIsRecoveredWithItsStacksAndCategories) {
  constexpr std::int32_t kSteps = 4;
  {
    OpenJournal journal(rank_file(), header(std::nullopt));
    event::NewEvents events;
    events.frames = {{"libtorch.so", 16, "at::empty"}, {"python3", 32, ""}};
    for (std::int32_t step = 0; step < kSteps; ++step) {
      add_events(events, step);
      events.operators.clear();
      event::MemoryEvent event;
      event.device = event::MemoryDevice::kCpu;
      event.time_ns = 100 * step + 10;
      event.address = 4096;
      event.bytes = 1000 + step;
      event.position.step = step;
      event.position.phase = 0;
      event.position.range = step;
      event.op = events.texts.intern("aten::empty");
      event.stack = step == 0 ? -1 : step - 1;
      event.after = {1000 + step, 1000 + step, 1000 + step, 1000 + step};
      if (step > 0) events.stacks.push_back({0, 1});
      events.memory_events.push_back(event);
      events.tags.push_back({event.time_ns + 1, 4096, 1000 + step, 1});
      event.action = event::MemoryAction::kFreeRequested;
      event.time_ns += 50;
      event.stack = -1;
      event.after = {};
      events.memory_events.push_back(event);
      event.action = event::MemoryAction::kFreeCompleted;
      events.memory_events.push_back(event);
      events.device_memory.push_back({100 * (kSteps - step), "after step", step, 2048, std::nullopt});
      journal.add(events);
      journal.add(step);
    }
  }
  EXPECT_THAT(recover_from_journal(rank_file(), 3, 1, Pass::kMemory, damaged()), Optional(2));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(
      found->text("SELECT group_concat(b.requested_bytes || ':' || category || ':' || o.text || ':' || p.text || "
                  "':' || s.text || ':' || (free_ns - alloc_ns) || ':' || coalesce(stack, 'none'), ' ') "
                  "FROM allocation b JOIN string o ON o.string_id = b.op_id JOIN string p ON p.string_id = b.phase_id "
                  "JOIN string s ON s.string_id = b.scope_id WHERE step IN (0, 3)"),
      "1000:parameter:aten::empty:forward:Model/layer:50:none "
      "1003:parameter:aten::empty:forward:Model/layer:50:2");
  EXPECT_EQ(
      found->text("SELECT group_concat(f.module || f.offset || coalesce(n.text, '?'), ' ') FROM stack s JOIN "
                  "stack_frame f USING (frame) LEFT JOIN string n ON n.string_id = f.function_id WHERE stack = 2"),
      "libtorch.so16at::empty python332?");
  EXPECT_EQ(found->text("SELECT group_concat(step, ' ') FROM device_memory"), "3 2 1 0") << "in order of time";
  EXPECT_EQ(found->integer("SELECT max(peak_allocated_bytes) FROM memory_phase"), 1003);
}

TEST_F(Journal, EventsWithReferencesToMissingNamesAreDropped) {
  const auto recover_with = [&](auto change) {
    {
      OpenJournal journal(rank_file(), header());
      event::NewEvents events;
      add_events(events, 2);
      change(events);
      journal.add(events);
      journal.add(2);
    }
    EXPECT_THAT(recover(), Optional(1));
    const auto found = open_rank_file(rank_file(), own_schema());
    EXPECT_EQ(found->integer("SELECT count(*) FROM op WHERE start_ns > 0"), 2);
    std::filesystem::remove(rank_file());
    return found->text("SELECT count || ' ' || detail FROM dropped_record WHERE count > 0");
  };
  EXPECT_EQ(recover_with([](event::NewEvents& events) { events.activities.emplace_back(); }),
            "1 kernels whose launch configuration is missing in the journal of events");
  EXPECT_EQ(recover_with([](event::NewEvents& events) { events.stacks.push_back({3}); }),
            "1 code locations of stacks in the journal of events");
}

TEST_F(Journal, EventsThatWereNotWrittenCompletelyAreIgnored) {
  {
    OpenJournal journal(rank_file(), header());
    event::NewEvents events;
    for (std::int32_t step = 0; step < 4; ++step) {
      add_events(events, step);
      journal.add(events);
      journal.add(step);
    }
  }
  // The kind of a step's first block is written last.
  const std::filesystem::path events = journal_file().string() + ".events";
  std::string content = read_file(events);
  std::size_t last_step = 0;
  for (const auto& [at, head] : blocks_of(content))
    if (head.kind == static_cast<std::uint32_t>(BlockKind::kFirstStream)) last_step = at;
  ASSERT_GT(last_step, 0u);
  put_content(events, content.replace(last_step, 4, 4, '\0'));
  EXPECT_THAT(recover(), Optional(2));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->integer("SELECT count(*) FROM op"), 6);
  EXPECT_FALSE(std::filesystem::exists(events));
  EXPECT_FALSE(std::filesystem::exists(damaged()));
}

TEST_F(Journal, AProcessThatWasReplacedLeavesTheEventsOfTheOtherAlone) {
  event::NewEvents events, of_the_other;
  OpenJournal replaced(rank_file(), header());
  add_events(events, 0);
  replaced.add(events);
  remove_journal(journal_file());
  OpenJournal journal(rank_file(), header(std::nullopt));
  for (std::int32_t step = 0; step < 4; ++step) {
    add_events(of_the_other, step);
    journal.add(of_the_other);
    journal.add(step);
    add_events(events, 10 + step);
    replaced.add(events);
  }
  EXPECT_THAT(recover(), Optional(2));
  EXPECT_EQ(open_rank_file(rank_file(), own_schema())->integer("SELECT count(*) FROM op"), 8);
}

TEST_F(Journal, EventsThatReferToMissingOnesAreKept) {
  {
    OpenJournal journal(rank_file(), header());
    event::NewEvents events;
    add_events(events, 2);
    events.ranges.clear();
    events.operators.pop_back();
    journal.add(events);
    journal.add(2);
  }
  EXPECT_THAT(recover(), Optional(1));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->text("SELECT n.text FROM op o JOIN string n ON n.string_id = o.name_id "
                        "WHERE scope_id IS NULL AND o.start_ns > 0"),
            "aten::addmm");
}

TEST_F(Journal, ManyStepsNeedSeveralChunks) {
  {
    OpenJournal journal(rank_file(), header(std::nullopt));
    for (std::int64_t step = 0; step < 12'345; ++step) journal.add(step);
  }
  EXPECT_THAT(recover(), Optional(12'343));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->integer("SELECT count(*) FROM sample WHERE host_ns = 1000 + step"), 2 * 12'345);
  EXPECT_EQ(found->integer("SELECT count(*) FROM warning"), 0);  // the program decided the number of steps
}

TEST_F(Journal, ACompleteRankFileIsKept) {
  OpenJournal journal(rank_file(), header());
  journal.add(0);
  write_rank_file(rank_file(), 3, 1, Pass::kOps, make_record());
  EXPECT_EQ(recover(), std::nullopt);
  EXPECT_EQ(open_rank_file(rank_file(), own_schema())->integer("SELECT count(*) FROM sample"), 24);
  journal.remove();
  EXPECT_FALSE(std::filesystem::exists(journal_file()));
}

TEST_F(Journal, OneThatIsNoJournalIsSetAside) {
  for (const std::string& content : {std::string(256 << 10, '\xff'), std::string(256 << 10, '\1'), "short"s, ""s}) {
    put_content(journal_file(), content);
    EXPECT_THAT(recover(), Optional(0));
    EXPECT_THAT(open_rank_file(rank_file(), own_schema())->text("SELECT group_concat(detail) FROM dropped_record"),
                AllOf(HasSubstr("the journal of steps is damaged at byte "), HasSubstr("results.db.damaged")));
    EXPECT_EQ(read_file(damaged() / journal_file().filename()), content);
    EXPECT_FALSE(std::filesystem::exists(journal_file()));
    std::filesystem::remove(rank_file());
  }
}

TEST_F(Journal, OneThatCannotBeReadIsSetAside) {
  std::filesystem::create_directory(journal_file());
  recover_journals(folder(), damaged());
  EXPECT_FALSE(std::filesystem::exists(rank_file()));
  EXPECT_TRUE(std::filesystem::exists(damaged() / journal_file().filename()));
}

TEST_F(Journal, AFolderIsRecovered) {
  {
    OpenJournal(rank_file(), header()).add(2);
  }
  recover_journals(folder(), damaged());
  EXPECT_EQ(open_rank_file(rank_file(), own_schema())->integer("SELECT count(*) FROM sample"), 3);
}

}  // namespace
}  // namespace kymo::store::testing
