// SPDX-License-Identifier: Apache-2.0
// How other programs process the reports: pdflatex, Typst and a browser, if they are installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "report/build.hpp"
#include "report/escape.hpp"
#include "report/renderer.hpp"
#include "report/report.hpp"
#include "report/run_selection.hpp"
#include "report/unicode.hpp"
#include "sample_database.hpp"
#include "sample_document.hpp"
#include "unit/hang.hpp"
#include "unit/installed.hpp"

namespace kymo::report {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string find_program(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    for (const std::string& folder : split(path != nullptr ? path : "", ':')) {
      const fs::path program = fs::path(folder) / name;
      if (::access(program.c_str(), X_OK) == 0) return program.string();
    }
  }
  return "";
}

bool has_latex_packages(const std::string& pdflatex) {
  const fs::path kpsewhich = fs::path(pdflatex).parent_path() / "kpsewhich";
  SpawnOptions options;
  options.command = {kpsewhich.string(), "siunitx.sty", "pgfplots.sty"};
  return run_command(options, kymo::kHang_s).end.exit_code == 0;
}

/// Returns the log.
std::string compile_latex(const std::string& pdflatex, const Document& document, const fs::path& folder) {
  write_file(folder / "report.tex", render_latex(document)[0].content);
  SpawnOptions options;
  options.command = {pdflatex,
                     "-no-shell-escape",
                     "-interaction=nonstopmode",
                     "-halt-on-error",
                     "-output-directory=" + folder.string(),
                     (folder / "report.tex").string()};
  for (int turn = 0; turn < 2; ++turn) {
    const CommandResult result = run_command(options, kymo::kHang_s);
    EXPECT_EQ(result.end.exit_code, 0) << result.stdout_text.substr(
        result.stdout_text.size() > 2000 ? result.stdout_text.size() - 2000 : 0);
  }
  return read_file(folder / "report.log");
}

void expect_compiles(const std::string& pdflatex, const Document& document) {
  testing::TemporaryFolder folder;
  const std::string log = compile_latex(pdflatex, document, folder.path());
  EXPECT_GT(fs::file_size(folder.path() / "report.pdf"), 10'000u);
  EXPECT_THAT(log, Not(HasSubstr("(/etc/passwd")));
}

TEST(Latex, Compiles) {
  const std::string pdflatex = find_program({"pdflatex"});
  KYMO_NEEDS_INSTALLED(!pdflatex.empty() && has_latex_packages(pdflatex), "pdflatex with siunitx and pgfplots");
  expect_compiles(pdflatex, testing::sample_document());
}

TEST(Latex, CompilesWithHostileNames) {
  const std::string pdflatex = find_program({"pdflatex"});
  KYMO_NEEDS_INSTALLED(!pdflatex.empty() && has_latex_packages(pdflatex), "pdflatex with siunitx and pgfplots");
  expect_compiles(pdflatex, testing::hostile_document());
}

// A text column of names without spaces beside one of sentences.
Document wide_table() {
  Table table;
  table.name = "warnings";
  table.caption = "Warnings.";
  for (const char* title : {"case", "runs", "details", "stack"}) {
    Column column;
    column.name = column.title = title;
    table.columns.push_back(column);
  }
  table.columns[0].code = table.columns[3].code = true;
  const std::string sentence = "the standard deviation of the step time is 48 % of its mean; the median is 20.9 ms";
  for (const char* name : {"attention-memory-library-fp32", "compiled-model-inference", "flash-filled-library-wide"}) {
    std::vector<Cell> row(4);
    for (Cell& cell : row) cell.kind = Cell::Kind::kText;
    row[0].text = name;
    row[1].text =
        "12 runs: batch 8, heads 1, head dim 64, length 1024, fp32 … batch 8, heads 1, head dim 64, length 8192";
    row[2].text = sentence + "; " + sentence;
    row[3].text = "kymo::transformer::LanguageModel::feed_forward(kymo::Context const&, at::Tensor)";
    table.rows.push_back(row);
  }
  Document document;
  document.sections.push_back({"Tables", 1, {table}});
  return document;
}

// As many columns as a pivot makes at most, which is more than a page in portrait has room for.
Document table_of_many_columns() {
  Table table;
  table.name = "many";
  table.caption = "Many columns.";
  std::vector<Cell> row;
  for (int i = 0; i < 13; ++i) {
    Column column;
    column.name = column.title = i == 0 ? "implementation" : "PyTorch, compile=reduce-overhead";
    column.align = i == 0 ? Align::kLeft : Align::kRight;
    column.format.kind = NumberFormat::Kind::kMeasured;
    table.columns.push_back(column);
    Cell cell;
    cell.kind = i == 0 ? Cell::Kind::kText : Cell::Kind::kReal;
    cell.text = i == 0 ? "attention-memory-library-fp32" : "";
    cell.real = 12345.678;
    if (i % 2 == 0) cell.uncertainty = 1.25;
    row.push_back(cell);
  }
  table.rows = {row, row};
  Document document;
  document.sections.push_back({"Tables", 1, {table}});
  return document;
}

TEST(Latex, WideTablesFitThePage) {
  const std::string pdflatex = find_program({"pdflatex"});
  KYMO_NEEDS_INSTALLED(!pdflatex.empty() && has_latex_packages(pdflatex), "pdflatex with siunitx and pgfplots");
  testing::TemporaryFolder folder;
  EXPECT_THAT(compile_latex(pdflatex, wide_table(), folder.path()), Not(HasSubstr("Overfull \\hbox")));
}

TEST(Latex, CompilesTimelines) {
  const std::string pdflatex = find_program({"pdflatex"});
  KYMO_NEEDS_INSTALLED(!pdflatex.empty() && has_latex_packages(pdflatex), "pdflatex with siunitx and pgfplots");
  Document document;
  Chart reference_line = testing::sample_chart(ChartKind::kLine);
  reference_line.reference_line = ReferenceLine{"peak of the device", 100};
  std::vector<Chart> panels;
  for (const ChartKind kind : {ChartKind::kLine, ChartKind::kBar}) {
    panels.push_back(testing::sample_chart(kind));
    for (const char* title : {"fp32, head dim 64", "bf16, 50 % of a & b", "third"}) {
      Panel& panel = panels.back().panels.emplace_back(Panel{title, {}, {}});
      for (const Series& series : panels.back().series) panel.points.push_back(series.points);
      panel.points.back().clear();
    }
  }
  panels[0].reference_line = panels[0].panels[1].reference_line = ReferenceLine{"peak of the device", 100};
  Chart single = reference_line;
  single.series.resize(1);
  document.sections.push_back({"Charts",
                               1,
                               {testing::sample_timeline(), testing::sample_memory(), testing::sample_panels(),
                                testing::sample_roofline(), reference_line, single, panels[0], panels[1]}});
  expect_compiles(pdflatex, document);
  expect_compiles(pdflatex, testing::hostile_timelines());
}

/// Runs Typst from its Python package.
CommandResult run_typst(const fs::path& folder) {
  SpawnOptions options;
  options.command = {find_program({"python3"}), "-c",
                     "import sys, typst; typst.compile(sys.argv[1], output=sys.argv[2])",
                     (folder / "report.typ").string(), (folder / "report.pdf").string()};
  return run_command(options, 100);
}

bool has_typst() {
  SpawnOptions options;
  options.command = {find_program({"python3"}), "-c", "import typst"};
  return !options.command.front().empty() && run_command(options, kymo::kHang_s).end.exit_code == 0;
}

void expect_typst_compiles(const Document& document) {
  testing::TemporaryFolder folder;
  for (const OutputFile& file : render_typst(document)) {
    fs::create_directories((folder.path() / file.path).parent_path());
    write_file(folder.path() / file.path, file.content);
  }
  const CommandResult result = run_typst(folder.path());
  ASSERT_EQ(result.end.exit_code, 0) << result.stderr_text;
  EXPECT_GT(fs::file_size(folder.path() / "report.pdf"), 10'000u);
}

TEST(Typst, Compiles) {
  KYMO_NEEDS_INSTALLED(has_typst(), "the Python package typst");
  expect_typst_compiles(testing::sample_document());
}

TEST(Typst, CompilesWithHostileNames) {
  KYMO_NEEDS_INSTALLED(has_typst(), "the Python package typst");
  expect_typst_compiles(testing::hostile_document());
  expect_typst_compiles(testing::hostile_timelines());
}

// Typst gives columns less than their words need where a table is too wide, and prints the words over each other. The
// functions below find words that are wider than their column; their widths are in points.
constexpr const char* kFindWideWords = R"typ(#let plain(it) = {
  if type(it) == str { it } else if it.has("text") { it.text } else if it.has("children") {
    it.children.map(plain).sum(default: "")
  } else if it.has("body") { plain(it.body) } else { " " }
}
#let styled(cell, word) = {
  if cell.func() == raw { raw(word) } else if cell.func() == emph { emph(word) } else { text(word) }
}
#let checked(cell) = layout(size => {
  for word in plain(cell).split(regex("[ \u{200b}-]")).filter(each => each != "") {
    let width = measure(styled(cell, word)).width
    let start = word.clusters().slice(0, calc.min(30, word.clusters().len())).join()
    if width > size.width + 0.5pt [ #metadata(start + ": " + repr(width) + " in " + repr(size.width))<wide> ]
  }
  cell
})
#let checked-cells(cells) = cells.map(cell => {
  if type(cell) != content or cell.func() == table.hline { cell } else if cell.func() == table.header {
    table.header(..checked-cells(cell.children))
  } else if cell.func() == table.cell { checked(cell.body) } else { checked(cell) }
})
)typ";

/// Words that are wider than their column, in a JSON array.
std::string wide_words(const Document& document) {
  testing::TemporaryFolder folder;
  std::string text;
  for (const OutputFile& file : render_typst(document)) {
    fs::create_directories((folder.path() / file.path).parent_path());
    write_file(folder.path() / file.path, file.content);
    if (file.path == "report.typ") text = file.content;
  }
  const std::string cells = "  ..cells,\n";
  const std::size_t at = text.find(cells);
  if (at == std::string::npos) return "the tables have no cells to check";
  write_file(folder.path() / "report.typ",
             kFindWideWords + text.replace(at, cells.size(), "  ..checked-cells(cells.pos()),\n"));
  SpawnOptions options;
  options.command = {find_program({"python3"}), "-c",
                     "import sys, typst; print(typst.query(sys.argv[1], '<wide>', field='value'))",
                     (folder.path() / "report.typ").string()};
  const CommandResult result = run_command(options, 100);
  return trim(result.stdout_text + result.stderr_text);
}

TEST(Typst, WordsOfTablesFitTheirColumns) {
  KYMO_NEEDS_INSTALLED(has_typst(), "the Python package typst");
  EXPECT_EQ(wide_words(testing::sample_document()), "[]");
  EXPECT_EQ(wide_words(wide_table()), "[]");
  EXPECT_EQ(wide_words(table_of_many_columns()), "[]");
  EXPECT_EQ(wide_words(testing::hostile_document()), "[]");
}

TEST(Typst, WordsOfTheOwnReportsFitTheirColumns) {
  KYMO_NEEDS_INSTALLED(has_typst(), "the Python package typst");
  testing::TemporaryFolder folder;
  testing::SampleDatabase sample(folder.path());
  testing::fill_with_everything(sample);
  const QueryFunction query = [&sample](const std::string& sql) { return sample.database().query(sql); };
  for (const char* name : {"quick", "cs336"}) {
    const ReportDefinition report = find_report(std::string(KYMO_SOURCE_DIR) + "/reports/" + name);
    RunSelection runs(sample.database());
    runs.select({});
    EXPECT_EQ(wide_words(build_document(report, query, "")), "[]") << name;
  }
}

/// Whitespace as in markup: none at the ends, one blank between words.
std::string with_single_blanks(const std::string& text) {
  std::string out;
  for (const std::string& word : split(text, ' ')) {
    if (!word.empty()) out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

TEST(Typst, PrintsHostileNamesAsTheyAre) {
  KYMO_NEEDS_INSTALLED(has_typst(), "the Python package typst");
  std::string text = R"(#let plain(it) = {
  if it == [ ] { " " } else if it.has("children") { it.children.map(plain).join("") }
  else if it.has("text") { it.text } else { repr(it) }
})";
  for (const std::string& name : testing::hostile_names()) {
    const std::string shown = with_single_blanks(printable(name));
    if (shown.empty()) continue;
    text += "\n#assert.eq(plain([" + escape_typst(shown) + "]), " + typst_string(shown) + ")";
    text += "\n#assert.eq((" + typst_string(name) + ").len(), " + std::to_string(printable(name).size()) + ")";
  }
  testing::TemporaryFolder folder;
  write_file(folder.path() / "report.typ", text);
  const CommandResult result = run_typst(folder.path());
  EXPECT_EQ(result.end.exit_code, 0) << result.stderr_text;
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}

// A window cannot be printed and measured, so the rules for paper apply to the screen, which is as wide as an A4 page
// between its margins.
TEST(Browser, WideTablesFitAPrintedPage) {
  const std::string browser = find_program({"chromium", "chromium-browser", "google-chrome"});
  KYMO_NEEDS_INSTALLED(!browser.empty(), "chromium");
  std::string html = render_html(wide_table())[0].content;
  html = replaced(replaced(html, "@media print", "@media all"), "default-src 'none'; ", "script-src 'unsafe-inline'; ");
  html = replaced(html, "</body>",
                  "<script>const { clientWidth, scrollWidth } = document.documentElement;\n"
                  "document.title = `${clientWidth} wide, content ${scrollWidth}`</script></body>");
  testing::TemporaryFolder folder;
  write_file(folder.path() / "report.html", html);
  SpawnOptions options;
  options.command = {browser,
                     "--headless",
                     "--no-sandbox",
                     "--disable-gpu",
                     "--disable-dev-shm-usage",
                     "--hide-scrollbars",
                     "--window-size=718,1000",
                     "--user-data-dir=" + (folder.path() / "profile").string(),
                     "--dump-dom",
                     "file://" + (folder.path() / "report.html").string()};
  EXPECT_THAT(run_command(options, 100).stdout_text, HasSubstr("<title>718 wide, content 718</title>"));
}

void expect_opens(const std::string& browser, const Document& document) {
  testing::TemporaryFolder folder;
  const fs::path page = folder.path() / "report.html";
  write_file(page, render_html(document)[0].content);
  SpawnOptions options;
  // No host name resolves: a page that requested anything would log the failure.
  options.command = {browser,
                     "--headless",
                     "--no-sandbox",
                     "--disable-gpu",
                     "--disable-dev-shm-usage",
                     "--enable-logging=stderr",
                     "--host-resolver-rules=MAP * ~NOTFOUND",
                     "--user-data-dir=" + (folder.path() / "profile").string(),
                     "--dump-dom",
                     "file://" + page.string()};
  const CommandResult result = run_command(options, 100);
  ASSERT_EQ(result.end.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("</figure>"));
  EXPECT_THAT(result.stdout_text, HasSubstr("</svg>"));
  EXPECT_THAT(result.stdout_text, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(result.stderr_text, Not(HasSubstr("CONSOLE")));
  EXPECT_THAT(result.stderr_text, Not(HasSubstr("Content Security Policy")));
}

TEST(Browser, OpensThePageWithoutNetworkOrErrors) {
  const std::string browser = find_program({"chromium", "chromium-browser", "google-chrome"});
  KYMO_NEEDS_INSTALLED(!browser.empty(), "chromium");
  expect_opens(browser, testing::sample_document());
}

TEST(Browser, OpensHostileTimelines) {
  const std::string browser = find_program({"chromium", "chromium-browser", "google-chrome"});
  KYMO_NEEDS_INSTALLED(!browser.empty(), "chromium");
  expect_opens(browser, testing::hostile_timelines());
}

TEST(Browser, OpensAPageOfHostileNames) {
  const std::string browser = find_program({"chromium", "chromium-browser", "google-chrome"});
  KYMO_NEEDS_INSTALLED(!browser.empty(), "chromium");
  expect_opens(browser, testing::hostile_document());
}

}  // namespace
}  // namespace kymo::report
