// SPDX-License-Identifier: Apache-2.0
#include "report/interactive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <numeric>

#include "base/json.hpp"
#include "report/renderer.hpp"
#include "report/timeline_picture.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using testing::bar;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::hostile_timelines;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::sample_memory;
using testing::sample_timeline;
using testing::timeline_of;

Json rows_of(const Chart& chart) { return parse_json(interactive_rows(chart), "rows"); }

std::string decompressed(const std::string& base64) {
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char digit : base64.substr(0, base64.find('='))) {
    bits = bits << 6 | static_cast<unsigned>(kDigits.find(digit));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFu);
  }
  std::string text(1 << 20, '\0');
  uLongf size = text.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                       bytes.size()),
            Z_OK);
  text.resize(size);
  return text;
}

std::string html_of(const Document& document) { return render_html(document)[0].content; }

std::string html_of(const Chart& chart) {
  Document document;
  document.sections.push_back({"H", 1, {chart}});
  return html_of(document);
}

// The text between two marks, starting at `at`; moves `at` behind it.
std::string between(const std::string& text, const std::string& begin, const std::string& end, std::size_t& at) {
  const std::size_t from = text.find(begin, at);
  if (from == std::string::npos) return "";
  const std::size_t to = text.find(end, from + begin.size());
  at = to + end.size();
  return text.substr(from + begin.size(), to - from - begin.size());
}

TEST(JsonText, WritesAnyTextAndNumber) {
  JsonText json;
  json.open('{');
  json.field("a\"b", "<script>\\ \n\x01 \xFF</script>");
  json.list("n", std::vector<std::int64_t>{INT64_MIN, 0, INT64_MAX});
  json.list("r", std::vector<double>{0.5, 1e300, 1073741824.0});
  json.list("none", std::vector<std::string>{});
  json.field("yes", true);
  json.close('}');
  const Json back = parse_json(json.text(), "test");
  EXPECT_EQ(back["a\"b"], "<script>\\  \xEF\xBF\xBD \xEF\xBF\xBD</script>");
  EXPECT_EQ(back["n"][0], INT64_MIN);
  EXPECT_EQ(back["n"][2], INT64_MAX);
  EXPECT_EQ(back["r"][1], 1e300);
  EXPECT_TRUE(back["none"].empty());
}

TEST(InteractiveRows, TimelineIsInColumnsOfDifferences) {
  const Json rows = rows_of(sample_timeline());
  EXPECT_EQ(rows["origin"], "1000000");
  EXPECT_EQ(rows["lanes"][0]["name"], "stream 7");
  EXPECT_EQ(rows["lanes"][0]["rows"], 2);
  const Json& track = rows["tracks"][0];
  EXPECT_EQ(track["start"], (Json::array({0, 900000})));
  EXPECT_EQ(track["length"], (Json::array({900000, 100000})));
  EXPECT_EQ(rows["texts"][track["label"][1].get<std::size_t>()], "softmax");
  EXPECT_EQ(rows["texts"][track["detail"][0].get<std::size_t>()], "grid 8");
  EXPECT_EQ(rows["classes"][track["class"][0].get<std::size_t>()], "matmul");
  EXPECT_TRUE(rows["tracks"][3]["detail"].empty()) << "a column of nothing takes no room";
}

TEST(InteractiveRows, ConnectEventsAndNameTheirRecorder) {
  const Json rows = rows_of(testing::sample_runs());
  ASSERT_EQ(rows["lanes"].size(), 6u);
  EXPECT_EQ(rows["lanes"][0]["run"], "train");
  EXPECT_EQ(rows["lanes"][0]["rank"], 0);
  EXPECT_EQ(rows["lanes"][2]["rank"], 1);
  EXPECT_EQ(rows["lanes"][4]["run"], "infer");
  const auto track_of = [&rows](std::size_t lane) -> const Json& {
    return *std::find_if(rows["tracks"].begin(), rows["tracks"].end(),
                         [lane](const Json& track) { return track["lane"] == lane; });
  };
  EXPECT_EQ(track_of(0)["event"][0], track_of(1)["launchedBy"][0]);
  EXPECT_EQ(track_of(2)["event"][0], track_of(3)["launchedBy"][0]);
  EXPECT_NE(track_of(0)["event"][0], track_of(2)["event"][0]) << "calls of the same name on different ranks";
  EXPECT_EQ(track_of(1)["step"], (Json::array({3, 4})));
  EXPECT_EQ(rows["texts"][track_of(1)["scope"][0].get<std::size_t>()], "block");
  EXPECT_TRUE(track_of(0)["launchedBy"].empty()) << "nothing launched the calls";
  ASSERT_EQ(rows["counters"].size(), 1u);
  EXPECT_EQ(rows["counters"][0]["name"], "power");
  EXPECT_EQ(rows["counters"][0]["rank"], 0);
  EXPECT_EQ(rows["counters"][0]["x"], (Json::array({0, 200}))) << "differences";
  EXPECT_EQ(rows["counters"][0]["y"], (Json::array({300.5, 310})));
}

TEST(InteractiveRows, OffersTheFilesOfItsPasses) {
  Chart chart = testing::sample_runs();
  ASSERT_EQ(chart.passes.size(), 2u);
  EXPECT_EQ(chart.passes[1].run_id, 8);
  EXPECT_EQ(chart.passes[1].pass, "trace");
  chart.attachments = {{chart.passes[0], "Save trace", "trace.json", "{\"a\": 1}", "kymo export"},
                       {chart.passes[1], "Save trace", "trace.json", "", "kymo export perfetto --run 8"}};
  const Json files = rows_of(chart)["files"];
  EXPECT_EQ(files[0]["embedded"], true);
  EXPECT_EQ(files[0]["run"], "train");
  EXPECT_EQ(files[1]["embedded"], false);
  EXPECT_EQ(files[1]["command"], "kymo export perfetto --run 8");
  std::size_t at = 0;
  const std::string html = html_of(chart);
  EXPECT_EQ(decompressed(between(html, "<script type=\"application/zlib\" data-file=\"0\">", "</script>", at)),
            "{\"a\": 1}");
  EXPECT_THAT(html, Not(HasSubstr("data-file=\"1\"")));
}

TEST(InteractiveRows, MemoryHasEventsOnItsAxis) {
  Chart chart = sample_memory();
  chart.timeline = sample_timeline().timeline;
  const Json rows = rows_of(chart);
  EXPECT_EQ(rows["events"]["origin"], "5000") << "that of the curves";
  EXPECT_EQ(rows["events"]["tracks"][0]["start"][0], 1'000'000 - 5000);
}

TEST(PictureNotes, NameTheRunRankAndStepShown) {
  const TimelinePicture picture = timeline_picture(testing::sample_runs(), kTimelinePlotPx);
  EXPECT_THAT(picture.notes, ElementsAre("The figure shows only rank 0 of 2.", "It shows only one of 2 runs: train.",
                                         "The figure shows only step 4."));
  ASSERT_EQ(picture.bars.size(), 1u);
  EXPECT_EQ(picture.bars[0].label, "softmax");
}

TEST(InteractiveRows, PanelsCountFromZero) {
  const Json rows = rows_of(testing::sample_panels());
  EXPECT_EQ(rows["panels"], true);
  EXPECT_EQ(rows["origin"], "0");
  EXPECT_EQ(rows["lanes"][3]["panel"], "beside: 1 ms");
  EXPECT_EQ(rows["lanes"][3]["group"], "GPU");
  EXPECT_EQ(rows["tracks"][3]["start"], (Json::array({300000})));
  EXPECT_FALSE(rows_of(sample_timeline()).contains("panels"));
}

TEST(InteractiveRows, AreaHoldsCurvesBandsAndBlocks) {
  const Json rows = rows_of(sample_memory());
  EXPECT_EQ(rows["x"], (Json::array({0, 1000, 2000, 1000})));
  EXPECT_EQ(rows["series"][1]["changes"], (Json::array({0, 2 << 20, 4 << 20, -(6 << 20)})));
  EXPECT_EQ(rows["bands"][0]["start"], 1000);
  EXPECT_EQ(rows["blocks"]["length"], (Json::array({-1, 3000, 1000})));
  EXPECT_EQ(rows["blocks"]["colours"], (Json::array({0, 1}))) << "as the curves of the same names";
  EXPECT_TRUE(rows["blocks"]["restX"].empty());
}

TEST(InteractiveRows, AddressesCountFromTheLowest) {
  Chart chart = sample_memory();
  EXPECT_FALSE(rows_of(chart).contains("segments"));
  EXPECT_FALSE(rows_of(chart)["blocks"].contains("address"));
  chart.memory.without_segments = "No segments.";
  EXPECT_EQ(rows_of(chart)["withoutSegments"], "No segments.");
  chart.memory.segments = {{6'000, 8'000, 0x7fff'0000'1000, 2048, 0}, {5'000, std::nullopt, 0x1000, 512, 7}};
  chart.memory.blocks[0].address = 0x1200;
  chart.memory.blocks[1].pending_ns = 30;
  const Json rows = rows_of(chart);
  EXPECT_EQ(rows["segments"]["lowest"], "4096");
  EXPECT_EQ(rows["segments"]["address"], (Json::array({0x7fff'0000'0000, 0})));
  EXPECT_EQ(rows["segments"]["start"], (Json::array({1000, 0})));
  EXPECT_EQ(rows["segments"]["length"], (Json::array({2000, -1})));
  EXPECT_EQ(rows["segments"]["stream"], (Json::array({0, 7})));
  EXPECT_EQ(rows["blocks"]["address"], (Json::array({512, -1, -1})));
  EXPECT_EQ(rows["blocks"]["pending"], (Json::array({0, 30, 0})));
}

TEST(InteractiveRows, KeepsTheLongestBarsAndSaysHowMany) {
  std::vector<TimelineBar> bars;
  for (std::int64_t i = 0; i < 200'010; ++i) bars.push_back(bar(i * 100, i * 100 + (i % 20'001 == 7 ? 1 : 50)));
  Chart chart;
  chart.kind = ChartKind::kTimeline;
  chart.caption = "C.";
  chart.timeline = timeline_of(bars);
  const Json rows = rows_of(chart);
  std::size_t kept = 0;
  for (const Json& track : rows["tracks"]) kept += track["start"].size();
  EXPECT_EQ(kept, kMaxInteractiveBars);
  EXPECT_THAT(rows["tracks"][0]["length"], Not(::testing::Contains(1)));
  EXPECT_EQ(interactive_notes(chart), " Only the 200\u202F000 longest of 200\u202F010 bars are shown.");
  EXPECT_THAT(html_of(chart), HasSubstr("200\u202F000 longest of 200\u202F010 bars are shown.</figcaption>"));
}

TEST(InteractiveRows, SaysWhatIsTooDeep) {
  std::vector<TimelineBar> bars;
  for (int i = 0; i < 45; ++i) bars.push_back(bar(i, 1000 - i));
  Chart chart;
  chart.kind = ChartKind::kTimeline;
  chart.timeline = timeline_of(bars);
  EXPECT_EQ(interactive_notes(chart), " Bars left out because they overlap at least 40 others: 5.");
}

TEST(InteractiveRows, SmallestBlocksGoTogether) {
  Chart chart = sample_memory();
  chart.memory.blocks.clear();
  for (std::int64_t i = 0; i < 100'100; ++i)
    chart.memory.blocks.push_back({5'000 + i / 100, 9'000, i < 100 ? 10 : 1000, 0, 0, 0});
  const Json blocks = rows_of(chart)["blocks"];
  EXPECT_EQ(blocks["start"].size(), kMaxInteractiveBlocks);
  EXPECT_EQ(blocks["restBytes"], (Json::array({1000, 0}))) << "a hundred blocks of ten bytes";
  EXPECT_THAT(interactive_notes(chart), HasSubstr("Of 100\u202F100 blocks, the 100\u202F000 largest"));
}

TEST(InteractiveRows, OneEventNoLengthAndNegativeTimes) {
  Chart chart;
  chart.kind = ChartKind::kTimeline;
  chart.timeline = timeline_of({bar(-7, -7)});
  const Json rows = rows_of(chart);
  EXPECT_EQ(rows["origin"], "-7");
  EXPECT_EQ(rows["tracks"][0]["start"], Json::array({0}));
  EXPECT_EQ(rows["tracks"][0]["length"], Json::array({0}));
}

TEST(InteractiveHtml, OnlyTheOneScriptMayRun) {
  const std::string html = html_of(sample_timeline());
  EXPECT_THAT(page_script_source(), MatchesRegex("'sha256-[A-Za-z0-9+/]{43}='"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src " +
                              page_script_source() + ";"));
  std::size_t at = 0;
  EXPECT_EQ(between(html, "<script>", "</script>", at), page_script());
  EXPECT_EQ(between(html, "<script>", "</script>", at), "");
  EXPECT_THAT(html, HasSubstr("<svg")) << "the picture for printers and readers without scripts";
  for (const char* outside : {"http:", "https:", "src=", "@import", "fetch(", "XMLHttp", "innerHTML", "eval("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(InteractiveHtml, PagesWithoutSuchChartsHaveNoScript) {
  const std::string html = html_of(testing::sample_document());
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("script-src")));
}

TEST(InteractiveHtml, RowsAreCompressed) {
  const Chart chart = sample_timeline();
  std::size_t at = 0;
  const std::string rows = between(html_of(chart), "<script type=\"application/zlib\">", "</script>", at);
  EXPECT_EQ(decompressed(rows), interactive_rows(chart));
  EXPECT_LT(rows.size(), interactive_rows(chart).size());
}

TEST(InteractiveHtml, HostileNamesStayInTheirRows) {
  const std::string html = html_of(hostile_timelines());
  std::size_t at = 0;
  std::size_t found = 0;
  for (std::string rows = between(html, "<script type=\"application/zlib\">", "</script>", at); !rows.empty();
       rows = between(html, "<script type=\"application/zlib\">", "</script>", at)) {
    ++found;
    EXPECT_THAT(rows, MatchesRegex("[A-Za-z0-9+/]+=?=?"));
    EXPECT_NO_THROW(parse_json(decompressed(rows), "rows"));
  }
  EXPECT_EQ(found, 3u);
  std::size_t scripts = 0;
  for (std::size_t position = html.find("<script"); position != std::string::npos;
       position = html.find("<script", position + 1))
    ++scripts;
  EXPECT_EQ(scripts, 4u);
}

TEST(PictureNotes, JoinTheCaption) {
  EXPECT_EQ(picture_caption(sample_timeline()), "A step.");
  Chart chart = sample_memory();
  chart.bands = {{"thin", 5'000, 5'001}};
  EXPECT_EQ(picture_caption(chart), "Memory. Bands without a label, from left to right: thin.");
}

}  // namespace
}  // namespace kymo::report
