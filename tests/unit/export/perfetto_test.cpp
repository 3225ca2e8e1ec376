// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/file.hpp"
#include "base/json.hpp"
#include "export/export.hpp"
#include "export/trace_events.hpp"
#include "sample_events.hpp"

namespace kymo::exports {
namespace {

using ::testing::ElementsAre;
using testing::ExportTest;
using ::testing::HasSubstr;
using testing::kHostile;
using ::testing::SizeIs;

class Perfetto : public ExportTest {
 protected:
  Json trace_of(const Choice& choice) {
    const auto written = export_perfetto(database(), choice, path("trace.json"));
    EXPECT_THAT(written, SizeIs(1));
    notes_ = written[0].notes;
    text_ = read_file(path("trace.json"));
    return parse_json(text_, "trace.json");
  }
  static Json events(const Json& trace, const std::string& category) {
    Json found = Json::array();
    for (const Json& event : trace["traceEvents"]) {
      if (event.value("cat", "") == category && event["ph"] == "X") found.push_back(event);
    }
    return found;
  }
  std::vector<std::string> notes_;
  std::string text_;
};

TEST_F(Perfetto, HasEveryKindOfEventOfATracePass) {
  const Json trace = trace_of({.run = {}, .rank = 0, .pass = {}});
  EXPECT_THAT(text_, HasSubstr("\n\"distributedInfo\": {\"rank\": 0, \"world_size\": 2},\n"));
  EXPECT_THAT(notes_, ElementsAre("this is the pass trace; --pass exports ops or memory"));
  EXPECT_EQ(trace["deviceProperties"][0]["name"], "A GPU");

  const Json kernels = events(trace, "kernel");
  ASSERT_EQ(kernels.size(), 2u);
  const Json& gemm = kernels[0];
  EXPECT_EQ(gemm["name"], "sgemm_kernel");
  EXPECT_EQ(gemm["ts"], 1100.0);
  EXPECT_EQ(gemm["dur"], 100.5);
  EXPECT_EQ(gemm["args"]["stream"], 7);
  EXPECT_EQ(gemm["args"]["correlation"], 42);
  EXPECT_EQ(gemm["args"]["scope"], "block_0/attention");
  EXPECT_EQ(gemm["args"]["phase"], "forward");
  EXPECT_EQ(gemm["args"]["class"], "matmul");
  EXPECT_EQ(gemm["args"]["launch_config"]["grid"], Json({8, 4, 2}));
  EXPECT_EQ(gemm["args"]["launch_config"]["block"], Json({256, 1, 1}));
  EXPECT_EQ(gemm["args"]["launch_config"]["shared memory"], 3072);
  EXPECT_EQ(kernels[1]["name"], kHostile);
  EXPECT_EQ(kernels[1]["args"]["graph node id"], 99);
  EXPECT_FALSE(kernels[1]["args"].contains("phase"));
  EXPECT_EQ(events(trace, "gpu_memcpy")[0]["name"], "Memcpy HtoD");
  EXPECT_EQ(events(trace, "gpu_memcpy")[0]["args"]["bytes"], 4096);
  EXPECT_EQ(events(trace, "gpu_memset")[0]["name"], "Memset");
  EXPECT_EQ(events(trace, "cuda_runtime").size(), 2u);
  EXPECT_EQ(events(trace, "cuda_sync")[0]["name"], "wait for stream");
  EXPECT_EQ(events(trace, "overhead")[0]["name"], "buffer flush");
}

TEST_F(Perfetto, HasATrackOfCollectivesPerCommunicator) {
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  const Json calls = events(trace, "collective");
  ASSERT_EQ(calls.size(), 4u);
  const Json& gather = calls[0];
  EXPECT_EQ(gather["name"], "all_gather") << "in order of starting";
  const Json& reduce = calls[1];
  EXPECT_EQ(reduce["name"], "all_reduce");
  EXPECT_EQ(reduce["ts"], 1150.0);
  EXPECT_EQ(reduce["dur"], 100.0);
  EXPECT_EQ(reduce["args"]["communicator"], kHostile);
  EXPECT_EQ(reduce["args"]["call_number"], 7);
  EXPECT_EQ(reduce["args"]["bytes"], 4096);
  EXPECT_EQ(reduce["args"]["kernels"], 2);
  EXPECT_EQ(reduce["args"]["called at us"], 1010.0);
  EXPECT_EQ(reduce["args"]["phase"], "backward");
  EXPECT_EQ(reduce["args"]["scope"], "block_0/attention");
  EXPECT_NE(reduce["tid"], gather["tid"]) << "they overlap";
  const Json& unseen = calls[2];
  EXPECT_EQ(unseen["ts"], 1300.0);
  EXPECT_EQ(unseen["dur"], 10.0);
  EXPECT_EQ(unseen["args"]["not seen on the device"], 1);
  EXPECT_FALSE(unseen["args"].contains("step"));
  EXPECT_EQ(calls[3]["dur"], 0.0);
  EXPECT_EQ(calls[3]["args"]["never ended"], 1);
  EXPECT_EQ(calls[3]["tid"], unseen["tid"]);
  std::map<Json, std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name" && event["pid"] == reduce["pid"]) names[event["tid"]] = event["args"]["name"];
  }
  EXPECT_EQ(names[gather["tid"]], std::string("collectives of ") + kHostile);
  EXPECT_EQ(names[reduce["tid"]], std::string("collectives of ") + kHostile + " (overlapping)");
  EXPECT_EQ(names[unseen["tid"]], "collectives of forward");
}

TEST_F(Perfetto, NamesStepsForReadersThatLeaveOutTheLastOne) {
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  std::vector<std::string> names;
  std::map<std::string, Json> by_name;
  for (const Json& event : events(trace, "user_annotation")) {
    names.push_back(event["name"]);
    by_name[event["name"]] = event;
  }
  EXPECT_THAT(names, ElementsAre("ProfilerStep#0", "ProfilerStep#1", "forward", kHostile, kHostile, "ProfilerStep#2"));
  EXPECT_EQ(by_name["ProfilerStep#1"]["dur"], 900.001);
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      EXPECT_LE(event["ts"], by_name["ProfilerStep#2"]["ts"]);
    }
  }
}

TEST_F(Perfetto, DrawsArrowsFromCallsToWhatTheyLaunched) {
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  std::map<std::string, std::set<int>> ends;
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("cat", "") == "ac2g") ends[event["ph"]].insert(event["id"].get<int>());
  }
  EXPECT_EQ(ends["s"], (std::set<int>{42, 43}));
  EXPECT_EQ(ends["f"], (std::set<int>{42, 43})) << "the copy's call was not recorded";
}

TEST_F(Perfetto, PutsWhatOverlapsOnATrackOfItsOwn) {
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  std::map<std::pair<int, std::int64_t>, std::vector<std::pair<double, double>>> tracks;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"];
    tracks[{event["pid"], event["tid"]}].emplace_back(start, start + event["dur"].get<double>());
  }
  for (auto& [track, spans] : tracks) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) {
      const bool apart = spans[i].first >= spans[i - 1].second;
      const bool inside = spans[i].second <= spans[i - 1].second;
      EXPECT_TRUE(apart || inside) << "track " << track.second;
    }
  }
  const Json kernels = events(trace, "kernel");
  EXPECT_NE(kernels[0]["tid"], kernels[1]["tid"]);
}

TEST_F(Perfetto, OfAnOpsPassHasOperators) {
  const Json trace = trace_of({.run = 3, .rank = {}, .pass = "ops"});
  const Json ops = events(trace, "cpu_op");
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0]["name"], "aten::mm");
  EXPECT_EQ(ops[0]["dur"], 0.8);
  EXPECT_EQ(ops[0]["args"]["Input Dims"], "[4, 256] [256]");
  EXPECT_EQ(ops[0]["args"]["Sequence number"], 17);
  EXPECT_EQ(ops[1]["dur"], 0.0);
  EXPECT_EQ(ops[1]["args"]["never ended"], 1);
}

TEST_F(Perfetto, OfAMemoryPassHasCounters) {
  const Json trace = trace_of({.run = 3, .rank = {}, .pass = "memory"});
  Json counters = Json::array();
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "C") counters.push_back(event);
  }
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0]["name"], "CUDA memory");
  EXPECT_EQ(counters[0]["args"]["allocated"], 1024);
  EXPECT_EQ(counters[1]["args"]["parameter"], 1024);
}

// Work of aten::mm and of the operator that it calls.
std::string work_of(const std::string& pass, int mm, int arguments) {
  const std::string columns = ", 1, 1, ";
  return "INSERT INTO op_work VALUES (3, 0, '" + pass + "', 0, NULL, NULL, " + std::to_string(mm) + ", " +
         std::to_string(arguments) + ", 0, 'matmul', 'f32'" + columns + "1600, 1600, 1600, 800, 1, 0, 0), (3, 0, '" +
         pass + "', 1, NULL, NULL, 1, NULL, 0, 'copy', 'f32'" + columns + "0, 0, 0, 300, 1, 0, 0), (3, 0, '" + pass +
         "', 2, NULL, NULL, 2, NULL, 0, 'overhead', ''" + columns + "0, 0, 0, 0, 1, 0, 0), (3, 0, '" + pass +
         "', 3, NULL, NULL, 3, NULL, 0, 'unknown', ''" + columns + "NULL, NULL, NULL, NULL, 1, 0, 0)";
}

std::vector<std::pair<double, std::int64_t>> counter(const Json& trace, const std::string& name) {
  std::vector<std::pair<double, std::int64_t>> values;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "C" && event["name"] == name) values.emplace_back(event["ts"], event["args"]["rate"]);
  return values;
}

TEST_F(Perfetto, OfAnOpsPassHasRatesWithoutCountingNestedCalls) {
  const int mm = text_id("aten::mm"), arguments = text_id("[4, 256] [256]");
  const std::string call = ", " + std::to_string(mm) + ", " + std::to_string(arguments) + ", ";
  execute(work_of("ops", mm, arguments));
  // Calls of 100 to 900 ns (with one that never ended), a nested one, one of its backward node, which is no call of the
  // operator, overhead, one without rule, a copy on its own, and two at the same time on different threads.
  execute("INSERT INTO op VALUES (3, 0, 'ops', 2, 0" + call +
          "0, 300, 400, 100, 0, NULL, 0, NULL, NULL, 'none', NULL), " + "(3, 0, 'ops', 3, NULL" + call +
          "1, 910, 920, 10, 0, NULL, 0, NULL, NULL, 'none', NULL), " +
          "(3, 0, 'ops', 4, NULL, 2, NULL, 0, 930, 940, 10, 0, NULL, 0, NULL, NULL, 'none', NULL), " +
          "(3, 0, 'ops', 5, NULL, 3, NULL, 0, 950, 960, 10, 0, NULL, 0, NULL, NULL, 'none', NULL), " +
          "(3, 0, 'ops', 6, NULL, 1, NULL, 0, 1000, 1100, 100, 0, NULL, 0, NULL, NULL, 'none', NULL), " +
          "(3, 0, 'ops', 7, NULL" + call + "0, 2000, 2800, 800, 0, NULL, 0, NULL, NULL, 'none', NULL), " +
          "(3, 0, 'ops', 8, NULL" + call + "0, 2400, 2800, 400, 1, NULL, 0, NULL, NULL, 'none', NULL)");
  const Json trace = trace_of({.run = 3, .rank = {}, .pass = "ops"});
  EXPECT_THAT(counter(trace, "FLOP/s"),
              ElementsAre(std::pair(0.1, 2'000'000'000), std::pair(0.9, 0), std::pair(1.0, 0), std::pair(1.1, 0),
                          std::pair(2.0, 2'000'000'000), std::pair(2.4, 6'000'000'000), std::pair(2.8, 0)));
  EXPECT_THAT(
      counter(trace, "bytes/s"),
      ElementsAre(std::pair(0.1, 1'000'000'000), std::pair(0.9, 0), std::pair(1.0, 3'000'000'000), std::pair(1.1, 0),
                  std::pair(2.0, 1'000'000'000), std::pair(2.4, 3'000'000'000), std::pair(2.8, 0)));
}

TEST_F(Perfetto, OfATracePassHasRatesOfKernels) {
  const int mm = text_id("aten::mm"), arguments = text_id("[4, 256] [256]");
  const std::string call = std::to_string(mm) + ", " + std::to_string(arguments) + ", 0, ";
  execute(work_of("trace", mm, arguments));
  execute("INSERT INTO op VALUES (3, 0, 'trace', 0, NULL, " + call +
          "1040000, 1090000, 1, 0, NULL, 0, NULL, NULL, 'none', NULL), "
          "(3, 0, 'trace', 1, 0, 2, NULL, 0, 1050000, 1080000, 1, 0, NULL, 0, NULL, NULL, 'none', NULL)");
  // Two kernels of one call, launched by what it calls, and two launches of a graph into which it was captured.
  execute(
      "DELETE FROM gpu_activity;"
      "INSERT INTO gpu_activity VALUES (3, 0, 'trace', 0, 6, 1100000, 1100300, 7, 42, 0, NULL, NULL, 'launch', 0, "
      "NULL, 1, NULL, NULL), "
      "(3, 0, 'trace', 1, 6, 1100400, 1100500, 7, 43, 0, NULL, NULL, 'launch', 0, NULL, 1, NULL, NULL), "
      "(3, 0, 'trace', 2, 6, 1200000, 1200800, 7, 44, 1, NULL, NULL, 'launch', 0, 99, 0, NULL, NULL), "
      "(3, 0, 'trace', 3, 6, 1300000, 1301600, 7, 45, 1, NULL, NULL, 'launch', 0, 99, 0, NULL, NULL), "
      "(3, 0, 'trace', 4, 6, 1400000, 1400100, 7, 46, 1, NULL, NULL, 'launch', 0, NULL, NULL, NULL, NULL)");
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  EXPECT_THAT(counter(trace, "FLOP/s"),
              ElementsAre(std::pair(1100.0, 4'000'000'000), std::pair(1100.3, 0), std::pair(1100.4, 4'000'000'000),
                          std::pair(1100.5, 0), std::pair(1200.0, 2'000'000'000), std::pair(1200.8, 0),
                          std::pair(1300.0, 1'000'000'000), std::pair(1301.6, 0)));
  for (const Json& event : trace["traceEvents"])
    EXPECT_TRUE(event["name"] != "FLOP/s" || event["pid"] == 0) << "the process of the GPU";
}

TEST_F(Perfetto, HasTheUtilizationOfTheGpu) {
  execute(
      "INSERT INTO gpu_utilization (run_id, rank, pass, start_ns, end_ns, sm_utilization, tensor_utilization, "
      "pcie_sent_bytes_per_s) VALUES (3, 0, 'trace', 1000000, 2000000, 0.996, 0.929, 12345678), "
      "(3, 0, 'trace', 2000000, 3000000, 0, NULL, NULL), (3, 1, 'trace', 1000000, 2000000, 0.5, 0.5, NULL)");
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"])
    if (event["name"] == "GPU utilization (%)" || event["name"] == "PCIe (MB/s)")
      found.push_back({{"ts", event["ts"]}, {"args", event["args"]}});
  EXPECT_THAT(found,
              ElementsAre(Json{{"ts", 1000.0}, {"args", {{"SM", 100}, {"tensor", 93}}}},
                          Json{{"ts", 1000.0}, {"args", {{"sent", 12}}}}, Json{{"ts", 2000.0}, {"args", {{"SM", 0}}}}));
}

TEST_F(Perfetto, SaysWhatWithoutCallsIsMissing) {
  execute("DELETE FROM api_call");
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("--trace-detail api")));
  EXPECT_EQ(events(trace, "user_annotation")[0]["name"], "step 0");
}

TEST_F(Perfetto, WritesOneFilePerRankOrNone) {
  EXPECT_THAT(export_perfetto(database(), {}, path("t.json")), SizeIs(2));
  EXPECT_THAT(files(), ElementsAre("t-rank0.json", "t-rank1.json"));
  EXPECT_EQ(parse_json(read_file(path("t-rank1.json")), "t")["distributedInfo"]["rank"], 1);
  std::filesystem::remove(path("t-rank0.json"));
  std::filesystem::remove(path("t-rank1.json"));
  std::filesystem::create_directory(path("t-rank1.json"));
  EXPECT_THAT(testing::error_of([&] { export_perfetto(database(), {}, path("t.json")); }),
              HasSubstr("it is a directory"));
  EXPECT_THAT(files(), ElementsAre("t-rank1.json"));
}

TEST_F(Perfetto, ReadsMoreThanAPage) {
  execute(
      "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 45009) INSERT INTO gpu_activity "
      "SELECT 3, 0, 'trace', i, 6, 3000000 + 10 * i, 3000005 + 10 * i, 7, i, 1, NULL, NULL, 'none', 0, NULL, "
      "NULL, NULL, NULL FROM n");
  const Json trace = trace_of({.run = 3, .rank = 0, .pass = "trace"});
  EXPECT_EQ(events(trace, "kernel").size(), 45'002u);
}

TEST(TraceTimes, AreMicrosecondsWithThreeDecimals) {
  EXPECT_EQ(microseconds(0), "0.000");
  EXPECT_EQ(microseconds(1), "0.001");
  EXPECT_EQ(microseconds(1'234'567), "1234.567");
  EXPECT_EQ(microseconds(-1'234), "-1.234");
  EXPECT_EQ(microseconds(INT64_MIN), "-9223372036854775.808");
}

TEST(TraceText, StaysAStringWhateverItHolds) {
  for (const std::string& text :
       {kHostile, std::string("\xff\xfe bytes"), std::string("a\0b", 3), std::string("\"rank\": 7")}) {
    const std::string json = json_string(text);
    EXPECT_TRUE(parse_json(json, "text").is_string());
    EXPECT_EQ(json.find("\"rank\""), std::string::npos);
  }
}

}  // namespace
}  // namespace kymo::exports
