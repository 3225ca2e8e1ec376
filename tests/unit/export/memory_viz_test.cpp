// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "export/export.hpp"
#include "sample_events.hpp"

namespace kymo::exports {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ExportTest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kHostile;
using ::testing::SizeIs;

class MemoryViz : public ExportTest {
 protected:
  CommandResult python(std::vector<std::string> words) {
    SpawnOptions options;
    options.command = {KYMO_PYTHON};
    options.command.insert(options.command.end(), words.begin(), words.end());
    return run_command(options, 100);
  }

  /// The export as read by the viewer.
  Json replayed(std::size_t max_entries = kMaxSnapshotEntries) {
    written_ = export_memory_viz(database(), {}, path("s.pickle"), max_entries);
    const CommandResult result =
        python({std::string(KYMO_SOURCE_DIR) + "/tests/unit/export/replay_snapshot.py", path("s.pickle").string()});
    EXPECT_EQ(result.end.exit_code, 0) << result.stderr_text;
    return result.end.exit_code == 0 ? parse_json(result.stdout_text, "replay_snapshot.py") : Json();
  }

  static std::vector<std::string> actions(const Json& trace) {
    std::vector<std::string> all;
    for (const Json& entry : trace) all.push_back(entry["action"]);
    return all;
  }
  std::vector<Written> written_;
};

TEST_F(MemoryViz, HasTheEventsInTheirOrderAndAnEndThatFollowsFromThem) {
  const Json replay = replayed();
  const Json& snapshot = replay["snapshot"];
  ASSERT_EQ(snapshot["device_traces"].size(), 2u);
  EXPECT_THAT(actions(snapshot["device_traces"][0]),
              ElementsAre("snapshot", "segment_alloc", "alloc", "alloc", "free_requested", "free_completed", "alloc",
                          "free_requested", "segment_alloc", "segment_free"));
  EXPECT_THAT(actions(snapshot["device_traces"][1]),
              ElementsAre("snapshot", "segment_alloc", "alloc", "free_requested", "free_completed", "segment_free",
                          "segment_alloc", "alloc"));
  EXPECT_EQ(replay["before"],
            parse_json(R"([{"blocks": [], "segments": []}, {"blocks": [], "segments": []}])", "test"));
  ASSERT_EQ(snapshot["segments"].size(), 2u);
  const Json& segment = snapshot["segments"][0];
  EXPECT_EQ(segment["total_size"], 1'048'576);
  EXPECT_EQ(segment["allocated_size"], 1'024);
  EXPECT_EQ(segment["active_size"], 1'024 + 512);
  EXPECT_EQ(segment["requested_size"], 1'000);
  std::vector<std::string> states;
  for (const Json& block : segment["blocks"]) states.push_back(block["state"]);
  EXPECT_THAT(states, ElementsAre("active_allocated", "inactive", "active_pending_free", "inactive"));
  EXPECT_EQ(snapshot["segments"][1]["address"].dump(), "18446744073709547520") << "addresses have no sign";
  EXPECT_EQ(replay["categories"], Json({"activation", "input", "parameter", "unknown"}));
  EXPECT_THAT(written_[0].notes, IsEmpty());
}

TEST_F(MemoryViz, ShowsWhereBlocksCameFrom) {
  const Json entry = replayed()["snapshot"]["device_traces"][0][3];
  std::vector<std::string> frames;
  for (const Json& frame : entry["frames"]) {
    frames.push_back(frame["filename"].get<std::string>() + ":" + frame["line"].dump() + ":" +
                     frame["name"].get<std::string>());
  }
  EXPECT_THAT(frames, ElementsAre("operator:0:aten::mm", "scope:0:" + kHostile, "phase:0:forward",
                                  "libc10_cuda.so:4660:c10::alloc(unsigned long)", kHostile + ":255:??"));
  EXPECT_EQ(entry["category"], "activation");
  EXPECT_EQ(entry["size"], 700);
  EXPECT_EQ(entry["time_us"], 3);
}

TEST_F(MemoryViz, KeepsTheLastEntriesAndSaysSo) {
  const Json replay = replayed(3);
  EXPECT_THAT(actions(replay["snapshot"]["device_traces"][0]),
              ElementsAre("snapshot", "free_requested", "segment_alloc", "segment_free"));
  EXPECT_EQ(replay["before"][0]["blocks"], Json({1'048'576, 1'100'000}));
  EXPECT_THAT(written_[0].notes,
              ElementsAre(HasSubstr("last 3 of 9 events of the cuda"), HasSubstr("last 3 of 7 events of the cpu")));
}

TEST_F(MemoryViz, MergesPiecesOfAGrowingAddressRange) {
  execute("DELETE FROM allocation; DELETE FROM segment");
  execute(
      "INSERT INTO segment VALUES (3, 0, 'memory', 0, 1000, 1000, 0, 10, NULL, NULL), (3, 0, 'memory', 1, 2000, 1000, "
      "0, 20, NULL, NULL), "
      "(3, 0, 'memory', 2, 3000, 500, 0, 30, 60, 5), (3, 0, 'memory', 2, 3500, 500, 0, 30, NULL, NULL)");
  execute(
      "INSERT INTO allocation VALUES (3, 0, 'memory', 3, 'cuda', 1000, 1500, 1536, 40, NULL, NULL, NULL, NULL, 0, 0, "
      "-1, NULL, NULL, NULL, "
      "NULL, NULL, 'unknown', '', NULL)");
  const Json replay = replayed();
  const Json& segments = replay["snapshot"]["segments"];
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0]["total_size"], 2'000);
  EXPECT_EQ(segments[0]["is_expandable"], true);
  EXPECT_THAT(
      actions(replay["snapshot"]["device_traces"][0]),
      ElementsAre("snapshot", "segment_map", "segment_map", "segment_map", "segment_map", "alloc", "segment_unmap"));
  EXPECT_EQ(replay["before"][0]["segments"], Json::array());
}

TEST_F(MemoryViz, SurvivesEventsThatMakeNoSense) {
  // A segment that is freed before its block; a block in no segment; sizes that extend into the next block.
  execute("UPDATE segment SET free_ns = 20000, free_sequence = 20 WHERE sequence = 0");
  execute("INSERT INTO segment VALUES (3, 0, 'memory', 30, 1048576, 1048576, 0, 30000, NULL, NULL)");
  const auto block = [&](const std::string& values) {
    execute("INSERT INTO allocation VALUES (3, 0, 'memory', " + values +
            ", NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 'unknown', '', NULL)");
  };
  block("31, 'cuda', 1048576, 600, 4096, 31000");
  block("32, 'cuda', 1049600, 600, 1024, 32000");
  block("33, 'cuda', 77, 600, 1024, 33000");
  block("34, 'cuda', 4000000000, 0, 0, 34000");
  const Json replay = replayed();
  EXPECT_THAT(written_[0].notes, ElementsAre(HasSubstr("2 blocks of the cuda allocator were omitted")));
  EXPECT_EQ(replay["snapshot"]["segments"].size(), 4u);
}

TEST_F(MemoryViz, EndsWithTheRequestThatWasRejected) {
  execute("INSERT INTO out_of_memory VALUES (3, 0, 'memory', 'device', 5000, 400, NULL)");
  const Json entry = replayed()["snapshot"]["device_traces"][0].back();
  EXPECT_EQ(entry["action"], "oom");
  EXPECT_EQ(entry["size"], 5'000);
  EXPECT_EQ(entry["device_free"], 400);
}

TEST_F(MemoryViz, IsReadByPyTorch) {
  const std::string viewer = KYMO_MEMORY_VIZ;
  if (viewer.empty()) GTEST_SKIP() << "this build is without LibTorch, of which the viewer is a part";
  ASSERT_TRUE(fs::exists(viewer));
  execute("INSERT INTO out_of_memory VALUES (3, 0, 'memory', 'device', 5000, 400, NULL)");
  export_memory_viz(database(), {}, path("s.pickle"));
  const std::string file = path("s.pickle").string();
  const CommandResult stats = python({viewer, "stats", file});
  EXPECT_EQ(stats.end.exit_code, 0) << stats.stderr_text;
  EXPECT_THAT(stats.stdout_text, HasSubstr("segments: 2"));
  EXPECT_THAT(stats.stdout_text, HasSubstr("total_allocated: 1010.0B"));
  const CommandResult trace = python({viewer, "trace", file});
  EXPECT_EQ(trace.end.exit_code, 0) << trace.stderr_text;
  EXPECT_THAT(trace.stdout_text, HasSubstr("raise OutOfMemoryError # 4.9KiB requested, 400.0B free in CUDA"));
  for (const char* plot : {"trace_plot", "segment_plot"}) {
    const std::string page = path(plot).string();
    const CommandResult plotted = python({viewer, plot, file, "-o", page});
    EXPECT_EQ(plotted.end.exit_code, 0) << plotted.stderr_text;
    EXPECT_THAT(read_file(page), HasSubstr("MemoryViz.js"));
  }
}

TEST_F(MemoryViz, OfARunWithoutAMemoryPassIsRejected) {
  EXPECT_THAT(
      testing::error_of([&] { export_memory_viz(database(), {.run = 4, .rank = {}, .pass = {}}, path("s.pickle")); }),
      HasSubstr("run 4 contains no memory blocks; record a run with --passes memory"));
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace kymo::exports
