// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "report/unicode.hpp"
#include "sample_database.hpp"

namespace kymo::report {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SampleDatabase;
using testing::SampleRun;
using testing::TemporaryFolder;
using ::testing::ThrowsMessage;

std::string own_report(const std::string& name) { return std::string(KYMO_SOURCE_DIR) + "/reports/" + name; }

class MakeReport : public ::testing::Test {
 protected:
  MakeReport() : sample_(folder_.path()) {}

  std::vector<fs::path> make(const std::string& name, const std::vector<std::string>& formats) {
    return make_report(sample_.database(), find_report(own_report(name)), {out_, formats, {}});
  }
  std::string markdown(const std::string& name) { return read_file(make(name, {"markdown"})[0]); }

  TemporaryFolder folder_;
  SampleDatabase sample_;
  fs::path out_ = folder_.path() / "out";
};

// Reports of one database with everything, which takes longer to fill than to report.
class MakeReportOfEverything : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    sample_ = std::make_unique<SampleDatabase>(folder_->path());
    testing::fill_with_everything(*sample_);
  }
  static void TearDownTestSuite() {
    sample_.reset();
    folder_.reset();
  }

  std::vector<fs::path> make(const std::string& name, const std::vector<std::string>& formats) {
    return make_report(sample_->database(), find_report(own_report(name)), {out_.path() / "out", formats, {}});
  }
  std::string markdown(const std::string& name) { return read_file(make(name, {"markdown"})[0]); }

  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline std::unique_ptr<SampleDatabase> sample_;
  TemporaryFolder out_;
};

// The line of a Markdown table that contains all these words.
std::string row_with(const std::string& text, const std::vector<std::string>& words) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool all = std::all_of(words.begin(), words.end(),
                                 [&line](const std::string& word) { return line.find(word) != std::string::npos; });
    if (all && line.starts_with("|")) return line;
    begin = end + 1;
  }
  return "";
}

TEST_F(MakeReportOfEverything, WritesAllFormatsMainFilesFirst) {
  const auto files = make("cs336", {"markdown", "latex", "typst", "html", "csv"});
  ASSERT_GE(files.size(), 7u);
  EXPECT_EQ(files[0].filename(), "report.md");
  EXPECT_EQ(files[1].filename(), "report.tex");
  EXPECT_EQ(files[2].filename(), "report.typ");
  EXPECT_EQ(files[3].filename(), "report.html");
  EXPECT_EQ((std::set<fs::path>(files.begin(), files.end()).size()), files.size())
      << "pictures that two formats share are there once";
  EXPECT_EQ(files.back().extension(), ".csv");
  for (const fs::path& file : files) EXPECT_TRUE(fs::is_regular_file(file)) << file;
  for (const auto& entry : fs::directory_iterator(out_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << "staging is gone";
}

TEST_F(MakeReportOfEverything, SaysHowManyRunsItLeavesOut) {
  EXPECT_THAT(markdown("cs336"), Not(HasSubstr("This report shows")));
  Request request{out_.path() / "out", {"markdown"}, {}};
  request.most_runs = 3;
  const auto limited = make_report(sample_->database(), find_report(own_report("cs336")), request);
  EXPECT_THAT(read_file(limited[0]), AllOf(HasSubstr("This report shows 3 of "), HasSubstr("Results of 3 runs")));
}

TEST_F(MakeReportOfEverything, CommandsNameTheProfile) {
  EXPECT_THAT(markdown("cs336"), HasSubstr("`kymo suite run cs336 --filter"));
  const std::string text = markdown("cs336-2026");
  EXPECT_THAT(text, AllOf(HasSubstr("`kymo suite run cs336 --profile 2026 --filter"),
                          Not(HasSubstr("`kymo suite run cs336 --filter '")),
                          HasSubstr("`kymo suite run cs336 --filter ddp --profile small`")));
}

TEST_F(MakeReportOfEverything, TimingTableHoldsEveryCase) {
  const std::string text = markdown("cs336");
  EXPECT_THAT(row_with(text, {"small", "256", "20.60\u00A0±\u00A0", "1.90"}), HasSubstr("passed"));
  EXPECT_THAT(row_with(text, {"2.7B", "512", "OOM"}), Not(::testing::IsEmpty()));
  EXPECT_THAT(row_with(text, {"xl", "1024", "skipped"}), Not(::testing::IsEmpty()));
  EXPECT_THAT(row_with(text, {"large", "128", "62.4"}), HasSubstr("not verified"));
  EXPECT_THAT(text, HasSubstr("needs 2 ranks, 1 device found"));
  EXPECT_THAT(text, HasSubstr("Runs that ran out of memory: 2."));
  EXPECT_THAT(text, HasSubstr("asked for 1.86 GiB"));
}

TEST_F(MakeReportOfEverything, WarmUpStudySaysWhatTheFirstStepsCost) {
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("Step 0 is slower than every later step: 14.2 times their median"));
  EXPECT_THAT(text, HasSubstr("The phase with the largest excess over its later median is `backward`"));
  EXPECT_THAT(text, HasSubstr("The SM clock was 1200\u00A0MHz after step 0"));
  EXPECT_THAT(text, HasSubstr("figures/step-by-step.svg"));
}

TEST_F(MakeReport, IsNotInTheWayOfWhatOthersPrepared) {
  const fs::path prepared = folder_.path() / (".out.kymo-" + std::to_string(getpid()));
  write_file(prepared, "of somebody else");
  sample_.add({});
  EXPECT_THAT(markdown("quick"), HasSubstr("saxpy"));
  EXPECT_EQ(read_file(prepared), "of somebody else");
}

TEST_F(MakeReport, AFirstStepLostInScatterIsSaidToBe) {
  SampleRun run = testing::transformer_run("small", 256, "timing-warmup", 20.6);
  run.warmup = 0;
  run.first_step_factor = 0.5;
  sample_.add(run);
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("the cost of the first step is within the noise"));
  EXPECT_THAT(text, Not(HasSubstr("times their median")));
}

TEST_F(MakeReport, ANewerRunOfAnotherSuiteTakesNothingAway) {
  SampleRun run = testing::transformer_run("small", 256, "timing", 20.6);
  sample_.add(run);
  SampleDatabase later(folder_.path(), "kymo suite run quick");
  run.suite = "quick";
  run.suite_case = "model";
  later.add(run);
  EXPECT_THAT(
      row_with(read_file(make_report(later.database(), find_report(own_report("cs336")), {out_, {"markdown"}, {}})[0]),
               {"small", "256", "1.90"}),
      Not(::testing::IsEmpty()));
}

TEST_F(MakeReport, RunsOfTheSameNameKeepTheirOwnBars) {
  SampleRun run;
  run.phases_ms = {{"grind", 3.0}, {"polish", 1.0}};
  sample_.add(run);
  sample_.add(run);
  make("quick", {"markdown"});
  EXPECT_THAT(read_file(out_ / "figures/phase-chart-saxpy.svg"), HasSubstr("only case (2)"));
}

TEST_F(MakeReport, UnsteadyRunsAreSaid) {
  SampleRun run;
  run.phases_ms = {{"grind", 3.0}};
  run.warmup = 0;
  run.first_step_factor = 40;
  sample_.add(run);
  const std::string text = markdown("quick");
  EXPECT_THAT(text, HasSubstr("Runs with unstable step times (standard deviation &gt; 25 % of the mean): 1."));
  EXPECT_THAT(row_with(text, {"unstable", "standard deviation of the step times"}), Not(::testing::IsEmpty()));
}

TEST_F(MakeReport, QuickShowsAnyWorkload) {
  SampleRun run;
  run.workload = "never_foreseen";
  run.parameters = {{"n", std::int64_t{7}}};
  run.phases_ms = {{"grind", 3.0}, {"polish", 1.0}};
  run.gflop = 6;
  run.steps = 5;
  sample_.add(run);
  const std::string text = markdown("quick");
  EXPECT_THAT(row_with(text, {"`never_foreseen`", "GFLOP"}), ::testing::IsEmpty());
  EXPECT_THAT(row_with(text, {"`never_foreseen`", "only case", "cpu", "passed"}), Not(::testing::IsEmpty()));
  EXPECT_THAT(row_with(text, {"`never_foreseen`", "`grind`"}), Not(::testing::IsEmpty()));
  EXPECT_THAT(text, HasSubstr("figures/overview.svg"));
  EXPECT_THAT(text, Not(HasSubstr("figures/phase-chart"))) << "a chart of a single run";
  EXPECT_THAT(text, HasSubstr("1 run of 1 workload from 1 invocation of kymo"));
}

TEST_F(MakeReport, WhatHasNoRowsSaysSo) {
  SampleRun run;
  run.phases_ms = {};
  sample_.add(run);
  const std::string quick = markdown("quick");
  EXPECT_THAT(quick, HasSubstr("No workload defines phases."));
  EXPECT_THAT(quick, HasSubstr("No runs of the Transformer language model."));
  EXPECT_THAT(quick, HasSubstr("No warnings: all runs completed"));
  EXPECT_THAT(quick, Not(HasSubstr("[!WARNING]")));
}

TEST_F(MakeReport, APartOfASuiteLeavesNoSectionOut) {
  sample_.add(testing::transformer_run("small", 256, "timing-inference", 20.6));
  const std::string text = markdown("cs336");
  EXPECT_THAT(text, HasSubstr("The case `timing` of the suite `cs336` was not run."));
  EXPECT_THAT(text, HasSubstr("The case `timing-warmup` of the suite `cs336` was not run."));
  EXPECT_THAT(row_with(text, {"small", "256", "20.60"}), Not(::testing::IsEmpty()));
}

TEST_F(MakeReport, ASuiteThatWasNotRunIsAnError) {
  sample_.add({});
  EXPECT_THAT([&] { make("cs336", {"html"}); }, ThrowsMessage<UsageError>(HasSubstr("'cs336'")));
}

TEST_F(MakeReport, HostileRunsComeOutInAllFormats) {
  for (const std::string& name : testing::hostile_names()) {
    SampleRun run;
    run.phases_ms = {{name, 1.5}, {"b" + name, 0.5}};
    run.detail = name;
    run.loss = name;
    run.device_name = name;
    if (name == printable_lines(name)) {
      run.workload = name;
      run.suite_case = name;
      run.parameters = {{name, name}};
    } else {
      run.parameters = {{"seed", static_cast<std::int64_t>(name.size())}};
    }
    sample_.add(run);
    run.status = measure::RunStatus::kFailed;
    sample_.add(run);
  }
  for (const fs::path& file : make("quick", {"markdown", "latex", "typst", "html", "csv"})) {
    const std::string content = read_file(file);
    EXPECT_EQ(printable_lines(content), content) << file;
    EXPECT_EQ(fs::relative(file, out_).string().find(".."), std::string::npos);
    if (file.extension() == ".html" || file.extension() == ".svg") {
      EXPECT_THAT(content, Not(HasSubstr("<script>"))) << file;
    }
  }
}

TEST_F(MakeReport, RejectsWhatItDoesNotKnow) {
  sample_.add({});
  EXPECT_THAT([&] { make("cs336", {"htlm"}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("'htlm'"), HasSubstr("'html'"))));
  EXPECT_THROW(make_report(sample_.database(), find_report("no_such_report"), {out_, {"html"}, {}}), UsageError);
  EXPECT_THROW(make_report(sample_.database(), find_report(folder_.path().string()), {out_, {"html"}, {}}), UsageError);
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(MakeReport, RejectsAnEmptySelection) {
  EXPECT_THAT([&] { make("quick", {"html"}); }, ThrowsMessage<UsageError>(HasSubstr("results.db")));
  EXPECT_FALSE(fs::exists(out_));
}

// A report with one chart; `sides` are additional queries by file name.
std::vector<fs::path> make_chart(SampleDatabase& sample, const fs::path& folder, const std::string& keys,
                                 const std::string& sql, const std::map<std::string, std::string>& sides = {}) {
  const fs::path own = folder / "own";
  fs::create_directories(own);
  write_file(own / "report.toml",
             "title = 'T'\n[[section]]\nheading = 'H'\n[[section.chart]]\nfile = 'chart.sql'\n" + keys);
  write_file(own / "chart.sql", "-- caption: Captioned.\n-- empty: Nothing here.\n" + sql);
  for (const auto& [name, text] : sides) write_file(own / name, text);
  return make_report(sample.database(), find_report(own.string()),
                     {folder / "out", {"markdown", "latex", "html", "csv"}, {}});
}

TEST_F(MakeReport, TimelinesComeOutInAllFormats) {
  sample_.add({});
  const auto files = make_chart(
      sample_, folder_.path(), "kind = 'timeline'\nsplit = 'run'\n",
      "SELECT 'stream' AS lane, 0 AS start_ns, 5 AS end_ns, 'gemm' AS label, 'matmul' AS class, column1 AS run "
      "FROM (VALUES (1), (2))");
  const std::string text = read_file(files[0]);
  EXPECT_THAT(text,
              AllOf(HasSubstr("figures/chart-1.svg"), HasSubstr("figures/chart-2.svg"), HasSubstr("Captioned. 2.")));
  EXPECT_THAT(read_file(files[2]), AllOf(HasSubstr("kymo-chart-box"), HasSubstr("<script type=\"application/zlib\">")));
  EXPECT_TRUE(fs::exists(out_ / "charts/chart-1.csv"));
}

TEST_F(MakeReport, AreasTakeTheirBandsAndBlocksByPart) {
  sample_.add({});
  make_chart(
      sample_, folder_.path(),
      "kind = 'area'\nx = 'time_ns'\nsplit = 'run'\nbands = 'bands.sql'\nblocks = 'blocks.sql'\n",
      "SELECT column1 AS time_ns, column2 AS used, column3 AS run FROM (VALUES (0, 5, 'a'), (9, 7, 'a'), (0, 1, 'b'))",
      {{"bands.sql", "SELECT 'forward' AS label, 0 AS start, 4 AS \"end\", 'a' AS run"},
       {"blocks.sql", "SELECT 0 AS start_ns, NULL AS end_ns, 5 AS bytes, 'w' AS label, 'c' AS category"}});
  EXPECT_TRUE(fs::exists(out_ / "charts/chart-a.bands.csv"));
  EXPECT_FALSE(fs::exists(out_ / "charts/chart-b.bands.csv"));
  EXPECT_TRUE(fs::exists(out_ / "charts/chart-b.blocks.csv")) << "a query without the column serves every part";
}

TEST_F(MakeReport, ATimelineWithoutRowsSaysSo) {
  sample_.add({});
  const auto files = make_chart(sample_, folder_.path(), "kind = 'timeline'\n",
                                "SELECT 'a' AS lane, NULL AS start_ns, NULL AS end_ns, '' AS label, '' AS class");
  EXPECT_THAT(read_file(files[0]), HasSubstr("Nothing here."));
  EXPECT_THAT(read_file(files[2]), Not(HasSubstr("<script")));
}

TEST_F(MakeReport, WhatAllRowsShareIsToldByTheCaption) {
  sample_.add({});
  const fs::path own = folder_.path() / "mine";
  fs::create_directory(own);
  write_file(own / "report.toml", "title = 'T'\n[[section]]\nheading = 'H'\n[[section.table]]\nfile = 'steps.sql'\n");
  const auto make_of = [&](const std::string& rows, const std::string& format) {
    write_file(
        own / "steps.sql",
        "-- caption: Steps by kind.\n-- empty: e\n-- column a: title=\"case\", once=true\n-- column b: once=true\n" +
            rows);
    return read_file(make_report(sample_.database(), find_report(own.string()), {out_, {format}, {}})[0]);
  };
  const std::string alike = "SELECT 'xl, 2 ranks' AS a, column1 AS b FROM (VALUES ('flat'), ('naive'))";
  EXPECT_THAT(make_of(alike, "markdown"),
              AllOf(HasSubstr("Steps by kind: xl, 2 ranks."), HasSubstr("| b |"), Not(HasSubstr("case"))));
  EXPECT_EQ(make_of(alike, "csv"), "case,b\r\n\"xl, 2 ranks\",flat\r\n\"xl, 2 ranks\",naive\r\n");
  EXPECT_THAT(make_of("SELECT 'xl' AS a, 'flat' AS b", "markdown"),
              AllOf(HasSubstr("Steps by kind: xl."), HasSubstr("| flat |")));
  EXPECT_THAT(make_of("SELECT column1 AS a, 1 AS b FROM (VALUES ('xl'), (NULL))", "markdown"),
              AllOf(HasSubstr("Steps by kind.\n"), HasSubstr("| case | b |")))
      << "a row without it is not alike";
}

TEST_F(MakeReport, OptionalColumnsWithoutAValueAreOmitted) {
  sample_.add({});
  const fs::path own = folder_.path() / "mine";
  fs::create_directory(own);
  write_file(own / "report.toml", "title = 'T'\n[[section]]\nheading = 'H'\n[[section.table]]\nfile = 'steps.sql'\n");
  const auto make_of = [&](const std::string& rows) {
    write_file(own / "steps.sql",
               "-- caption: c\n-- empty: e\n-- column idle: title=\"GPU idle\", unit=\"%\", optional=true, "
               "note=\"Between `kernels`.\"\n" +
                   rows);
    return read_file(make_report(sample_.database(), find_report(own.string()), {out_, {"markdown"}, {}})[0]);
  };
  EXPECT_THAT(make_of("SELECT 'forward' AS phase, NULL AS idle"),
              AllOf(HasSubstr("| phase |\n"), Not(HasSubstr("GPU")), Not(HasSubstr("Between"))));
  EXPECT_THAT(make_of("SELECT column1 AS phase, column2 AS idle FROM (VALUES ('forward', NULL), ('backward', 3))"),
              AllOf(HasSubstr("| phase | GPU idle (%) |"), HasSubstr("\n*Between `kernels`.*\n")));
  EXPECT_THAT(make_of("SELECT NULL AS idle"), HasSubstr("GPU idle")) << "a table has a column";
}

TEST_F(MakeReport, AWrongQueryLeavesTheOldReportAlone) {
  sample_.add({});
  fs::create_directories(out_);
  write_file(out_ / "report.md", "old");
  const fs::path own = folder_.path() / "mine";
  fs::create_directory(own);
  write_file(own / "report.toml", "title = 'T'\n[[section]]\nheading = 'H'\n[[section.table]]\nfile = 'bad.sql'\n");
  write_file(own / "bad.sql", "-- caption: c\n-- empty: e\nSELECT nonsense FROM nowhere");
  EXPECT_THAT([&] { make_report(sample_.database(), find_report(own.string()), {out_, {"markdown"}, {}}); },
              ThrowsMessage<UsageError>(HasSubstr("bad.sql")));
  write_file(own / "bad.sql", "-- caption: c\n-- empty: e\n-- column x: title=\"y\"\nSELECT 1 AS z");
  EXPECT_THAT([&] { make_report(sample_.database(), find_report(own.string()), {out_, {"markdown"}, {}}); },
              ThrowsMessage<UsageError>(HasSubstr("no column 'x'")));
  write_file(own / "bad.sql", "-- caption: c\n-- empty: e\nDELETE FROM run");
  EXPECT_THROW(make_report(sample_.database(), find_report(own.string()), {out_, {"markdown"}, {}}), UsageError);
  EXPECT_EQ(read_file(out_ / "report.md"), "old");
}

TEST_F(MakeReport, AFolderInTheWayIsAnErrorAndNothingIsWritten) {
  sample_.add({});
  fs::create_directories(out_ / "report.html");
  EXPECT_THAT([&] { make("quick", {"markdown", "html"}); }, ThrowsMessage<Error>(HasSubstr("report.html")));
  EXPECT_FALSE(fs::exists(out_ / "report.md"));
}

TEST_F(MakeReport, AFileInPlaceOfTheFolderIsAnError) {
  sample_.add({});
  write_file(out_, "a file");
  EXPECT_THROW(make("quick", {"html"}), Error);
  EXPECT_EQ(read_file(out_), "a file");
}

}  // namespace
}  // namespace kymo::report
