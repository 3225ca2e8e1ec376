// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <random>

#include "base/file.hpp"
#include "store/journal_reader.hpp"
#include "store/journal_recovery.hpp"
#include "store/open.hpp"
#include "store/step_journal.hpp"
#include "unit/store/fixture.hpp"
#include "unit/store/journal_fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DamagedJournal : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    write_journal(rank_file());
    steps_ = read_file(steps_file());
    events_ = read_file(events_file());
    written_steps_ = steps_;
    written_events_ = events_;
    // Nothing that follows the blocks, which a file system fills with zeros, can be damaged.
    used_steps_ = end_of(steps_);
    used_events_ = end_of(events_);
  }

  std::filesystem::path rank_file() const { return path("RUN-3-1-ops.kymo"); }
  std::filesystem::path steps_file() const { return path("RUN-3-1-ops.kymo.steps"); }
  std::filesystem::path events_file() const { return path("RUN-3-1-ops.kymo.steps.events"); }

  static std::size_t end_of(const std::string& file) {
    const auto [at, head] = blocks_of(file).back();
    return at + kBlockHeadBytes + padded(head.bytes);
  }

  /// Reads the journal, whose content is the beginning of the original one. Returns the number of steps. A file whose
  /// content is empty is missing.
  std::size_t read_prefix(const std::string& steps, const std::string& events) const {
    write_changed(steps_file(), steps, written_steps_);
    write_changed(events_file(), events, written_events_);
    const JournalContent journal = read_journal(steps_file());
    std::size_t count = 0;
    for (const event::Sample& sample : journal.record.samples) {
      if (sample.phase != event::kWholeStep) continue;
      EXPECT_EQ(sample.step, static_cast<std::int64_t>(count));
      EXPECT_EQ(sample.start_ns, 100 * sample.step);
      EXPECT_EQ(sample.host_ns, 60);
      ++count;
    }
    for (std::size_t i = 0; i < journal.record.metrics.size(); ++i)
      EXPECT_EQ(journal.record.metrics[i].number, static_cast<double>(i));
    const event::Trace& trace = journal.record.trace;
    for (std::size_t i = 0; i < trace.operators.size(); ++i)
      EXPECT_EQ(trace.operators[i].start_ns, static_cast<std::int64_t>(100 * i));
    for (std::size_t i = 0; i < trace.activities.size(); ++i)
      EXPECT_EQ(trace.activities[i].end_ns, static_cast<std::int64_t>(100 * i + 30));
    for (const event::MemoryEvent& event : journal.record.memory_trace.events) EXPECT_EQ(event.bytes, 64);
    damage_ = journal.damage;
    return count;
  }

  static void write_changed(const std::filesystem::path& file, const std::string& content, std::string& written) {
    if (content == written) return;
    written = content;
    if (content.empty()) {
      std::filesystem::remove(file);
    } else {
      put_content(file, content);
    }
  }

  std::string steps_, events_;
  mutable std::string written_steps_, written_events_;
  std::size_t used_steps_ = 0, used_events_ = 0;
  mutable std::vector<std::string> damage_;
};

TEST_F(DamagedJournal, IsReadCompletelyWithoutDamage) {
  EXPECT_EQ(read_prefix(steps_, events_), kJournalSteps);
  EXPECT_THAT(damage_, IsEmpty());
}

TEST_F(DamagedJournal, StepsThatGotTheirUsageWhenTheProcessWasKilledAreComplete) {
  std::string steps = steps_;
  for (const auto& [at, head] : blocks_of(steps_))
    if (head.kind == static_cast<std::uint32_t>(BlockKind::kStep))
      steps[at + kBlockHeadBytes + offsetof(event::StepTime, cpu_ns)] = 77;
  EXPECT_EQ(read_prefix(steps, events_), kJournalSteps);
  EXPECT_THAT(damage_, IsEmpty());
  for (const event::Sample& sample : read_journal(steps_file()).record.samples)
    EXPECT_EQ(sample.cpu_ns, std::nullopt) << "it may not be what was meant";
}

TEST_F(DamagedJournal, ChangedBitsEndItAndAreReported) {
  std::minstd_rand random(1);
  for (int i = 0; i < damaged_copies(1000); ++i) {
    std::string steps = steps_, events = events_;
    const bool of_steps = i % 2 == 0;
    if (of_steps) events.clear();
    std::string& file = of_steps ? steps : events;
    const std::size_t at = random() % (of_steps ? used_steps_ : used_events_);
    file[at] = static_cast<char>(file[at] ^ (1 << random() % 8));
    const std::size_t count = read_prefix(steps, events);
    // A bit of the padding between two blocks is no damage.
    if (count == kJournalSteps && damage_.empty()) continue;
    ASSERT_THAT(damage_, SizeIs(1)) << "byte " << at;
    EXPECT_THAT(damage_[0], HasSubstr(of_steps ? "the journal of steps is" : "the journal of events is"));
    if (!of_steps) {
      EXPECT_EQ(count, kJournalSteps);
    }
  }
}

TEST_F(DamagedJournal, EachWordOfAHeadIsProtected) {
  const auto blocks = blocks_of(steps_);
  for (std::size_t block = 0; block + 1 < blocks.size(); block += 7) {  // metrics and steps alternate
    for (std::size_t word = 0; word < kBlockHeadBytes; word += 4) {
      for (const char* value : {"\0\0\0\0", "\1\0\0\0", "\xff\xff\xff\xff"}) {
        std::string steps = steps_;
        steps.replace(blocks[block].first + word, 4, value, 4);
        if (steps == steps_) continue;
        read_prefix(steps, "");
        ASSERT_THAT(damage_, SizeIs(1)) << "block " << block << ", word " << word / 4;
      }
    }
  }
}

TEST_F(DamagedJournal, BlocksThatAreRepeatedMissingOrExchangedEndIt) {
  const auto blocks = blocks_of(steps_);
  const auto bytes_of = [&](std::size_t i) { return blocks[i + 1].first - blocks[i].first; };
  for (std::size_t i = 2; i + 3 < blocks.size(); i += 3) {
    const std::string block = steps_.substr(blocks[i].first, bytes_of(i));
    std::string repeated = steps_, missing = steps_, moved = steps_;
    repeated.insert(blocks[i].first, block).resize(steps_.size());
    missing.erase(blocks[i].first, block.size()).resize(steps_.size());
    moved.erase(blocks[i].first, block.size()).insert(blocks[i + 1].first - block.size() + bytes_of(i + 1), block);
    for (const std::string& steps : {repeated, missing, moved}) {
      read_prefix(steps, "");
      ASSERT_THAT(damage_, SizeIs(1)) << "block " << i;
    }
  }
}

TEST_F(DamagedJournal, ATruncatedFileIsReadAsFarAsItGoes) {
  std::minstd_rand random(2);
  for (int i = 0; i < damaged_copies(200); ++i) {
    const std::size_t bytes = random() % used_steps_;
    const std::size_t count = read_prefix(steps_.substr(0, bytes), "");
    ASSERT_THAT(damage_, SizeIs(1)) << bytes;
    EXPECT_LT(count, static_cast<std::size_t>(kJournalSteps));
    EXPECT_EQ(read_prefix(steps_, events_.substr(0, random() % used_events_)), kJournalSteps);
    ASSERT_THAT(damage_, SizeIs(1));
  }
}

TEST_F(DamagedJournal, TheProgramMayTruncateItWhileItIsWritten) {
  const std::filesystem::path other = path("RUN-3-0-ops.kymo");
  StepJournal journal(other, {.warmup = 0, .run_start_ns = 0, .steps = 2, .device = {}});
  const std::filesystem::path file = path("RUN-3-0-ops.kymo.steps");
  std::filesystem::resize_file(file, 0);
  ::testing::internal::CaptureStderr();
  for (std::int64_t step = 0; step < 5000; ++step) journal.add(event::StepTime{.step = step}, {});
  EXPECT_TRUE(journal.room_for(8).empty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("was truncated: if the program is killed, its steps"));
  EXPECT_THAT(read_journal(file).damage, SizeIs(1));
}

TEST_F(DamagedJournal, NumbersNeedAsMuchMemoryAsTheFileHasBytes) {
  std::string events = events_;
  for (const auto& [at, head] : blocks_of(events_)) {
    if (head.kind != static_cast<std::uint32_t>(BlockKind::kFirstStream)) continue;
    const std::int32_t number = 1 << 26;
    std::memcpy(&events[at + kBlockHeadBytes], &number, sizeof(number));
    seal(events, at);
    break;
  }
  EXPECT_EQ(read_prefix(steps_, events), kJournalSteps);
  ASSERT_THAT(damage_, SizeIs(1));
  EXPECT_THAT(damage_[0], HasSubstr("an event has the number 67108864"));
}

TEST_F(DamagedJournal, StepsWithImpossibleTimesEndIt) {
  std::string steps = steps_;
  int found = 0;
  for (const auto& [at, head] : blocks_of(steps_)) {
    if (head.kind != static_cast<std::uint32_t>(BlockKind::kStep) || ++found < 5) continue;
    const std::int64_t end_ns = -125'936'423;
    std::memcpy(&steps[at + kBlockHeadBytes + offsetof(event::StepTime, end_ns)], &end_ns, sizeof(end_ns));
    seal(steps, at);
    break;
  }
  EXPECT_EQ(read_prefix(steps, events_), 4u);
  ASSERT_THAT(damage_, SizeIs(1));
  EXPECT_THAT(damage_[0], HasSubstr("the times of step 4 are impossible"));
}

TEST_F(DamagedJournal, IsNotRemovedIfItCannotBeMoved) {
  steps_[blocks_of(steps_)[3].first + kBlockHeadBytes] ^= 1;
  put_content(steps_file(), steps_);
  put_content(path("results.db.damaged"), "a file with the name of the directory");
  EXPECT_TRUE(recover_from_journal(rank_file(), 3, 1, measure::Pass::kOps, path("results.db.damaged")));
  EXPECT_EQ(read_file(steps_file()), steps_);
  EXPECT_EQ(read_file(events_file()), events_);
}

TEST_F(DamagedJournal, IsKeptAndReportedByTheRun) {
  std::string steps = steps_;
  int found_steps = 0;
  for (const auto& [at, head] : blocks_of(steps_))
    if (head.kind == static_cast<std::uint32_t>(BlockKind::kStep) && ++found_steps == 5)
      steps[at + kBlockHeadBytes] ^= 1;
  put_content(steps_file(), steps);
  const auto measured = recover_from_journal(rank_file(), 3, 1, measure::Pass::kOps, path("results.db.damaged"));
  EXPECT_EQ(measured, 2);
  EXPECT_EQ(read_file(path("results.db.damaged/RUN-3-1-ops.kymo.steps")), steps);
  EXPECT_EQ(read_file(path("results.db.damaged/RUN-3-1-ops.kymo.steps.events")), events_);
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->integer("SELECT count(*) FROM sample WHERE phase = 'step'"), 4);
  EXPECT_THAT(found->text("SELECT group_concat(detail) FROM dropped_record"),
              HasSubstr("the journal of steps is damaged at byte "));
}

}  // namespace
}  // namespace kymo::store::testing
