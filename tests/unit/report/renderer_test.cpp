// SPDX-License-Identifier: Apache-2.0
#include "report/renderer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "base/file.hpp"
#include "report/interactive.hpp"
#include "report/pgfplots.hpp"
#include "report/svg.hpp"
#include "report/unicode.hpp"
#include "sample_database.hpp"
#include "sample_document.hpp"

namespace kymo::report {
namespace {

using ::testing::HasSubstr;
using testing::hostile_document;
using ::testing::Not;
using testing::sample_chart;
using testing::sample_document;

std::map<std::string, std::string> files_of(std::vector<OutputFile> (*render)(const Document&),
                                            const Document& document) {
  std::map<std::string, std::string> files;
  for (const OutputFile& file : render(document)) files[file.path.string()] = file.content;
  return files;
}

// KYMO_UPDATE_GOLDEN=1 writes the files that the test compares with; check the difference before committing it.
void expect_golden(const std::string& name, const std::string& content) {
  const std::filesystem::path file = std::filesystem::path(KYMO_SOURCE_DIR) / "tests/golden/report" / name;
  if (std::getenv("KYMO_UPDATE_GOLDEN") != nullptr) write_file(file, content);
  ASSERT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(read_file(file), content) << file;
}

TEST(Golden, Markdown) { expect_golden("report.md", files_of(render_markdown, sample_document()).at("report.md")); }
TEST(Golden, Latex) { expect_golden("report.tex", files_of(render_latex, sample_document()).at("report.tex")); }
TEST(Golden, Typst) { expect_golden("report.typ", files_of(render_typst, sample_document()).at("report.typ")); }
TEST(Golden, Csv) { expect_golden("times.csv", files_of(render_csv, sample_document()).at("tables/times.csv")); }
TEST(Golden, BarSvg) { expect_golden("bars.svg", files_of(render_markdown, sample_document()).at("figures/bars.svg")); }
TEST(Golden, HtmlBody) {
  const std::string html = files_of(render_html, sample_document()).at("report.html");
  expect_golden("body.html", html.substr(html.find("<body>")));
}

TEST(Golden, TimelineSvg) { expect_golden("timeline.svg", standalone_svg(testing::sample_timeline())); }
TEST(Golden, TimelinePgf) { expect_golden("timeline.tex", pgfplots_picture(testing::sample_timeline())); }
TEST(Golden, TimelineRows) { expect_golden("timeline.json", interactive_rows(testing::sample_timeline())); }
TEST(Golden, PanelsSvg) { expect_golden("panels.svg", standalone_svg(testing::sample_panels())); }
TEST(Golden, PanelsPgf) { expect_golden("panels.tex", pgfplots_picture(testing::sample_panels())); }
TEST(Golden, RooflineSvg) { expect_golden("roofline.svg", standalone_svg(testing::sample_roofline())); }
TEST(Golden, RooflinePgf) { expect_golden("roofline.tex", pgfplots_picture(testing::sample_roofline())); }
TEST(Golden, AreaSvg) { expect_golden("memory.svg", standalone_svg(testing::sample_memory())); }
TEST(Golden, AreaPgf) { expect_golden("memory.tex", pgfplots_picture(testing::sample_memory())); }
TEST(Golden, AreaRows) { expect_golden("memory.json", interactive_rows(testing::sample_memory())); }

// Removes the page's own script and the contents of elements that contain rows: browsers do not parse either as markup.
std::string without_scripts(std::string html) {
  const std::string own = "<script>" + page_script() + "</script>";
  if (const std::size_t at = html.find(own); at != std::string::npos) html.erase(at, own.size());
  const std::string open = "<script type=\"application/zlib\">";
  for (std::size_t at = html.find(open); at != std::string::npos; at = html.find(open))
    html.erase(at, html.find("</script>", at) + 9 - at);
  return html;
}

// Names of the elements; also checks that they are properly nested.
std::set<std::string> elements_of(const std::string& markup, const std::set<std::string>& empty_elements) {
  std::set<std::string> names;
  std::vector<std::string> open;
  static const std::regex kTag(R"(<(/?)([a-zA-Z][\w-]*|!DOCTYPE)([^<>]*)>|<)");
  std::string text = markup;
  const std::size_t style = text.find("<style>");
  if (style != std::string::npos) text.erase(style, text.find("</style>") + 8 - style);
  for (std::sregex_iterator it(text.begin(), text.end(), kTag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    EXPECT_FALSE(name.empty()) << "a bare '<' at " << text.substr(static_cast<std::size_t>(it->position()), 60);
    names.insert(name);
    if (empty_elements.contains(name) || (*it)[3].str().ends_with("/")) continue;
    if ((*it)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      ADD_FAILURE() << "</" << name << "> closes nothing";
      return names;
    } else {
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
  return names;
}

TEST(Html, IsSelfContained) {
  const std::string html = files_of(render_html, sample_document()).at("report.html");
  EXPECT_THAT(html, HasSubstr("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
  EXPECT_THAT(html, Not(HasSubstr("http:")));
  EXPECT_THAT(html, Not(HasSubstr("https:")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("<svg"));
}

TEST(Html, HostileNamesMakeNoElements) {
  const std::string html = files_of(render_html, hostile_document()).at("report.html");
  const auto names = elements_of(without_scripts(html), {"!DOCTYPE", "meta", "link"});
  for (const char* bad : {"script", "a-b", "input", "img", "iframe"}) EXPECT_FALSE(names.contains(bad)) << bad;
  EXPECT_EQ(printable_lines(html), html) << "valid UTF-8 without control characters";
}

TEST(Html, HostileTimelinesMakeNoElements) {
  const std::string html = files_of(render_html, testing::hostile_timelines()).at("report.html");
  const auto names = elements_of(without_scripts(html), {"!DOCTYPE", "meta", "link"});
  for (const char* bad : {"script", "a-b", "input", "img", "iframe"}) EXPECT_FALSE(names.contains(bad)) << bad;
  EXPECT_EQ(printable_lines(html), html);
}

TEST(Svg, HostileNamesKeepItWellFormed) {
  auto files = files_of(render_markdown, hostile_document());
  files.merge(files_of(render_markdown, testing::hostile_timelines()));
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".svg")) continue;
    for (const std::string& element : elements_of(content, {})) {
      EXPECT_THAT((std::set<std::string>{"svg", "title", "rect", "line", "text", "circle", "polygon", "polyline"}),
                  ::testing::Contains(element))
          << name;
    }
  }
}

TEST(Svg, ShowsTheStateOfMissingBars) {
  EXPECT_THAT(inline_svg(sample_chart(ChartKind::kBar)), HasSubstr(">OOM</text>"));
  EXPECT_THAT(pgfplots_picture(sample_chart(ChartKind::kBar)), HasSubstr("{OOM}"));
}

// Tops and heights of the bars of an SVG, without those of the legend.
std::vector<std::pair<double, double>> bars_of(const std::string& svg) {
  static const std::regex kBar(R"re(<rect[^>]* y="([\d.]+)"[^>]* height="([\d.]+)"[^>]*><title>)re");
  std::vector<std::pair<double, double>> bars;
  for (std::sregex_iterator it(svg.begin(), svg.end(), kBar), end; it != end; ++it)
    bars.emplace_back(std::stod((*it)[1]), std::stod((*it)[2]));
  return bars;
}

TEST(Svg, StackedBarsStandOnEachOther) {
  Chart chart = sample_chart(ChartKind::kBar);
  chart.stacked = true;
  chart.series = {{"forward", {{0, 10.0, {}, ""}, {1, 40.0, {}, ""}}},
                  {"backward", {{0, 20.0, {}, ""}, {1, {}, {}, "OOM"}}}};
  const auto bars = bars_of(inline_svg(chart));
  ASSERT_EQ(bars.size(), 3u);
  EXPECT_NEAR(bars[2].first + bars[2].second, bars[0].first, 0.11);  // backward ends where forward begins
  EXPECT_NEAR(bars[2].second, 2 * bars[0].second, 0.21);             // and its height is proportional to its value
  EXPECT_NEAR(bars[1].second, 4 * bars[0].second, 0.41);             // the axis covers the larger sum
  EXPECT_THAT(inline_svg(chart), Not(HasSubstr(">OOM</text>")));     // it would overlap a bar
  chart.series[0].points[1].y.reset();
  EXPECT_THAT(inline_svg(chart), HasSubstr(">OOM</text>"));
}

TEST(Pgf, StackedBarsHaveAFigureAtEveryPlace) {
  Chart chart = sample_chart(ChartKind::kBar);
  chart.stacked = true;
  chart.series[1].points.erase(chart.series[1].points.begin());
  const std::string picture = pgfplots_picture(chart);
  EXPECT_THAT(picture, HasSubstr("ybar stacked"));
  EXPECT_THAT(picture, HasSubstr("coordinates { (0,0) (1,0)}"));
}

TEST(Svg, LinesBreakAtMissingPoints) {
  Chart chart = sample_chart(ChartKind::kLine);
  chart.series = {
      {"a", {{128, 1.0, {}, ""}, {256, 2.0, {}, ""}, {512, {}, {}, "OOM"}, {1024, 3.0, {}, ""}, {2048, 4.0, {}, ""}}}};
  const std::string svg = inline_svg(chart);
  EXPECT_NE(svg.find("<polyline"), svg.rfind("<polyline"));
}

TEST(Svg, AreasStack) {
  Chart chart = sample_chart(ChartKind::kArea);
  EXPECT_THAT(inline_svg(chart), HasSubstr("<polygon"));
  EXPECT_THAT(pgfplots_picture(chart), HasSubstr("-- cycle;"));
}

// Checks the bounding boxes of the texts in an SVG for overlap.
TEST(Svg, CategoryLabelsKeepApart) {
  Chart chart = sample_chart(ChartKind::kBar);
  chart.categories.clear();
  chart.series = {{"a", {}}};
  for (int i = 0; i < 60; ++i) {
    chart.categories.push_back("a rather long name of a case, number " + std::to_string(i));
    chart.series[0].points.push_back({static_cast<double>(i), 1.0 + i, {}, ""});
  }
  const std::string svg = inline_svg(chart);
  static const std::regex kTurned(R"re(<text[^>]* x="([\d.]+)"[^>]*rotate\(-35)re");
  double previous = -100;
  int labels = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), kTurned), end; it != end; ++it, ++labels) {
    const double x = std::stod((*it)[1]);
    EXPECT_GE(x - previous, 15.9);
    previous = x;
  }
  EXPECT_GT(labels, 10);
}

TEST(Markdown, HostileNamesKeepTheTablesShape) {
  const std::string text = files_of(render_markdown, hostile_document()).at("report.md");
  std::size_t begin = 0;
  int expected = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with("|")) {
      expected = 0;
      continue;
    }
    int bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (expected == 0) expected = bars;
    EXPECT_EQ(bars, expected) << line;
  }
  EXPECT_THAT(std::regex_replace(text, std::regex("`[^`\n]*`"), ""), Not(HasSubstr("<script"))) << "outside code spans";
}

// A CSV parser that follows RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += text[++i];
      } else if (c == '"') {
        quoted = false;
      } else {
        rows.back().back() += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\r' && text[i + 1] == '\n') {
      ++i;
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Csv, HostileNamesComeBackDisarmed) {
  const auto& names = testing::hostile_names();
  Document document = hostile_document();
  auto& table = std::get<Table>(document.sections.back().blocks[0]);
  table.name = "all";
  const auto rows = parse_csv(files_of(render_csv, document).at("tables/all.csv"));
  ASSERT_EQ(rows.size(), names.size() + 1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(rows[i + 1].size(), rows[0].size());
    const std::string& field = rows[i + 1][0];
    const std::string expected = printable_lines(names[i]);
    EXPECT_TRUE(field == expected || field == "'" + expected) << field;
    EXPECT_TRUE(field.empty() || std::string_view("=+-@").find(field.front()) == std::string_view::npos) << field;
  }
}

TEST(Csv, NumbersAreWrittenInFullWithTheirUncertainty) {
  const auto rows = parse_csv(files_of(render_csv, sample_document()).at("tables/times.csv"));
  EXPECT_EQ(rows[0], (std::vector<std::string>{"workload", "elements", "step (ms)", "step std (ms)"}));
  EXPECT_EQ(rows[1], (std::vector<std::string>{"saxpy", "1024", "12.3456", "0.0521"}));
  EXPECT_EQ(rows[3][2], "OOM");
}

TEST(Csv, TimelinesAndAreasGiveTheirRows) {
  Document document;
  document.sections.push_back({"Charts", 1, {testing::sample_timeline(), testing::sample_memory()}});
  const auto files = files_of(render_csv, document);
  ASSERT_EQ(files.size(), 4u);
  const auto bars = parse_csv(files.at("charts/timeline.csv"));
  ASSERT_EQ(bars.size(), 8u);
  EXPECT_EQ(bars[1],
            (std::vector<std::string>{"GPU", "stream 7", "1000000", "1900000", "gemm", "matmul", "grid 8", ""}));
  EXPECT_EQ(parse_csv(files.at("charts/memory.csv"))[0],
            (std::vector<std::string>{"time (ns)", "weights (bytes)", "activations (bytes)"}));
  EXPECT_EQ(parse_csv(files.at("charts/memory.csv"))[2], (std::vector<std::string>{"6000", "4194304", "2097152"}));
  EXPECT_EQ(parse_csv(files.at("charts/memory.bands.csv"))[1], (std::vector<std::string>{"forward", "6000", "8000"}));
  EXPECT_EQ(parse_csv(files.at("charts/memory.blocks.csv"))[1][1], "") << "alive at the end";

  Chart memory = testing::sample_memory();
  memory.memory.segments = {{5'000, 8'000, 0x7000, 512, 3}};
  memory.memory.blocks[0].address = 0x7100;
  document.sections = {{"Charts", 1, {memory}}};
  const auto with_segments = files_of(render_csv, document);
  EXPECT_EQ(parse_csv(with_segments.at("charts/memory.segments.csv"))[1],
            (std::vector<std::string>{"5000", "8000", "0x7000", "512", "3"}));
  EXPECT_EQ(parse_csv(with_segments.at("charts/memory.blocks.csv"))[1].back(), "0x7100");
}

TEST(Csv, PanelsAreAColumn) {
  Document document;
  document.sections.push_back({"Charts", 1, {testing::sample_panels()}});
  const auto bars = parse_csv(files_of(render_csv, document).at("charts/panels.csv"));
  EXPECT_EQ(bars[0][0], "panel");
  EXPECT_EQ(bars[3], (std::vector<std::string>{"beside: 1 ms", "GPU", "streams", "300000", "1000000", "all_reduce",
                                               "communication", "", ""}));
}

TEST(Csv, HostileTimelinesComeBackDisarmed) {
  const auto rows = parse_csv(files_of(render_csv, testing::hostile_timelines()).at("charts/hostile-timeline.csv"));
  ASSERT_EQ(rows.size(), testing::hostile_names().size() + 1);
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 8u);
    for (const std::string& field : row)
      EXPECT_TRUE(field.empty() || std::string_view("=+-@").find(field.front()) == std::string_view::npos) << field;
  }
}

TEST(Latex, LongTablesGoOverSeveralPages) {
  Document document = sample_document();
  auto& table = std::get<Table>(document.sections[0].blocks[0]);
  EXPECT_THAT(files_of(render_latex, document).at("report.tex"), Not(HasSubstr("begin{longtable}")));
  while (table.rows.size() < 40) table.rows.push_back(table.rows.front());
  EXPECT_THAT(files_of(render_latex, document).at("report.tex"), HasSubstr("begin{longtable}"));
}

/// Makes the table purely numeric, by rows.
void fill_with_numbers(Table& table, const NumberFormat& format, const std::vector<std::vector<double>>& rows) {
  Column column;
  column.title = "x";
  column.align = Align::kRight;
  column.format = format;
  table.columns.assign(rows.front().size(), column);
  table.rows.clear();
  for (const auto& values : rows) {
    auto& row = table.rows.emplace_back();
    for (const double value : values) {
      row.emplace_back().kind = Cell::Kind::kReal;
      row.back().real = value;
    }
  }
}

TEST(Latex, LeavesRoomForTheSign) {
  Document document = sample_document();
  auto& table = std::get<Table>(document.sections[0].blocks[0]);
  fill_with_numbers(table, {NumberFormat::Kind::kFixed, 1}, {{12.5, 12.5}, {12.5, -9.5}});
  EXPECT_THAT(files_of(render_latex, document).at("report.tex"), HasSubstr("S[table-format=2.1]S[table-format=-2.1]"));
}

TEST(Typst, WideTablesLieAcrossAndTheirLongNamesMayBreak) {
  Document document = sample_document();
  auto& table = std::get<Table>(document.sections[0].blocks[0]);
  table.rows.front().front().text = "a_very_long_name_of/a_workload";
  EXPECT_THAT(files_of(render_typst, document).at("report.typ"), Not(HasSubstr("\\u{200b}"))) << "there is room";
  for (int i = 0; i < 9; ++i) {
    table.columns.push_back(table.columns.front());
    for (auto& row : table.rows) row.push_back(row.front());
  }
  EXPECT_THAT(files_of(render_typst, document).at("report.typ"),
              ::testing::AllOf(HasSubstr("#page(flipped: true)[\n#figure("),
                               HasSubstr("raw(\"a_\\u{200b}very_\\u{200b}long_")));
}

TEST(Typst, NumbersWithExponentsAndSignsAreSetAsSuch) {
  Document document = sample_document();
  auto& table = std::get<Table>(document.sections[0].blocks[0]);
  fill_with_numbers(table, {}, {{-1.5}, {2.5e-9}});
  EXPECT_THAT(files_of(render_typst, document).at("report.typ"),
              ::testing::AllOf(HasSubstr("[\u22121.5"), HasSubstr("[2.500 × 10#super[\u22129]]")));
}

}  // namespace
}  // namespace kymo::report
