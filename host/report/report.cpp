// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "report/build.hpp"
#include "report/commands.hpp"
#include "report/hand_in.hpp"
#include "report/renderer.hpp"

namespace kymo::report {
namespace fs = std::filesystem;
namespace {

fs::path reports_folder() { return installation().share / "reports"; }

// Installed reports take precedence over folders of the same name; ./NAME selects the folder.
fs::path folder_of(const std::string& name) {
  const std::vector<std::string> names = list_reports();
  if (std::find(names.begin(), names.end(), name) != names.end()) return reports_folder() / name;
  const bool is_path = name.find('/') != std::string::npos || name == "." || name == "..";
  if (fs::is_regular_file(fs::path(name) / "report.toml")) return name;
  if (is_path) throw UsageError("no report at " + quote(name) + ": the folder must contain report.toml");
  const bool is_folder = fs::is_directory(name);
  throw UsageError("unknown report " + quote(name) +
                   (is_folder ? "; the folder ./" + name + " contains no report.toml" : suggestion(name, names)));
}

std::vector<Renderer> renderers_of(const std::vector<std::string>& formats) {
  std::vector<Renderer> chosen;
  for (const std::string& format : formats) {
    const auto found = std::ranges::find(renderers(), format, &Renderer::format);
    if (found == renderers().end())
      throw UsageError("unknown report format " + quote(format) + suggestion(format, known_formats()));
    if (std::ranges::find(chosen, format, &Renderer::format) == chosen.end()) chosen.push_back(*found);
  }
  if (chosen.empty()) throw UsageError("no report format given; known: " + join(known_formats(), ", "));
  return chosen;
}

// Files are written to a temporary folder and moved at the end, so that a failure leaves the old report intact.
class Staging {
 public:
  explicit Staging(const fs::path& out_folder) : out_(fs::absolute(out_folder).lexically_normal()) {
    if (!out_.has_filename()) out_ = out_.parent_path();
    try {
      make_folders(out_.parent_path());
      remove_abandoned_siblings(out_);
      const TemporarySibling stage = make_sibling_folder(out_);
      if (stage.path.empty()) fail(out_.parent_path(), {errno, std::generic_category()});
      stage_ = stage.path;
      lock_ = stage.fd;
    } catch (...) {
      take_back();
      throw;
    }
  }
  ~Staging() { take_back(); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// A file that already exists is the same picture for another format: see picture_file().
  void add(const OutputFile& file) {
    if (!known_.insert(file.path).second) return;
    std::error_code failed;
    fs::create_directories((stage_ / file.path).parent_path(), failed);
    if (failed) fail(out_, failed);
    try {
      write_file(stage_ / file.path, file.content);
    } catch (const Error& error) {
      fail(out_, error.what());
    }
    if (fs::is_directory(out_ / file.path, failed))
      throw Error("cannot write " + quote((out_ / file.path).string()) + ": a folder with this name exists");
    paths_.push_back(file.path);
  }

  std::vector<fs::path> move_output() {
    std::error_code error;
    std::vector<fs::path> files;
    for (const fs::path& path : paths_) {
      make_folders((out_ / path).parent_path());
      if (::access((out_ / path).parent_path().c_str(), W_OK) != 0)
        fail((out_ / path).parent_path(), {errno, std::generic_category()});
    }
    for (const fs::path& path : paths_) {
      fs::rename(stage_ / path, out_ / path, error);
      if (error) fail(out_ / path, error);
      files.push_back(out_ / path);
    }
    made_.clear();
    return files;
  }

 private:
  [[noreturn]] static void fail(const fs::path& where, const std::error_code& error) { fail(where, error.message()); }
  [[noreturn]] static void fail(const fs::path& where, const std::string& reason) {
    throw Error("cannot write the report to " + quote(where.string()) + ": " + reason +
                "; check the folder or choose another one with --out");
  }
  // Created folders are remembered, so that they can be removed after a failure.
  void make_folders(const fs::path& folder) {
    std::error_code error;
    if (fs::is_directory(folder, error)) return;
    if (folder.has_relative_path()) make_folders(folder.parent_path());
    if (fs::create_directory(folder, error)) {
      made_.push_back(folder);
    } else if (error) {
      fail(folder, error);
    }
  }
  void take_back() {
    std::error_code ignored;  // files that others added in the meantime remain
    if (!stage_.empty()) fs::remove_all(stage_, ignored);
    if (lock_ >= 0) close(std::exchange(lock_, -1));
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, ignored);
  }
  fs::path out_;
  fs::path stage_;
  int lock_ = -1;  // on the stage
  std::vector<fs::path> made_;
  std::vector<fs::path> paths_;
  std::set<fs::path> known_;
};

/// Returns the number of runs that the report could show.
std::int64_t select_runs(RunSelection& selected, const std::filesystem::path& database, const Request& request,
                         const ReportDefinition& definition) {
  if (request.comparison) return selected.select_compared(*request.comparison);
  if (request.history) return selected.select_history(*request.history);
  // Runs are selected within the suite: a newer run of the same plan in another suite must not replace this suite's
  // run.
  Selection selection = request.selection;
  if (!selection.suite && !definition.suite.empty()) selection.suite = definition.suite;
  selection.every_run = definition.every_run;
  if (definition.hides_history) selection.most = request.most_runs;
  const std::int64_t runs = selected.select(selection);
  if (runs > 0) return runs;
  const std::string whose = selection.suite ? "no run of the suite " + quote(*selection.suite) : "no run";
  throw UsageError(whose + " in " + quote(database.string()) +
                   " matches; create runs first or choose another label, invocation or suite");
}

/// The text of each query of a report, with the name of its file or value.
std::map<std::string, std::string> names_of_queries(const ReportDefinition& definition) {
  std::map<std::string, std::string> names;
  const auto add_values = [&names](const ProseSpec& prose, const std::string& where) {
    for (const ValueSpec& value : prose.values) names.emplace(value.sql, where + ", value " + value.name);
  };
  const auto add_file = [&names](const QueryFile& file) { names.emplace(file.sql, file.name); };
  add_values(definition.summary, definition.file);
  for (const ProseSpec& banner : definition.banners) add_values(banner, definition.file + ", banner");
  for (const SectionSpec& section : definition.sections) {
    add_values(section.prose, section.heading);
    for (const QueryFile& table : section.tables) add_file(table);
    for (const ChartSpec& chart : section.charts) {
      add_file(chart.query);
      for (const std::optional<QueryFile>& side :
           {chart.bands, chart.blocks, chart.segments, chart.events, chart.counters, chart.roofs})
        if (side) add_file(*side);
    }
  }
  return names;
}

Notice limit_notice(std::int64_t runs, std::int64_t all) {
  return {
      Notice::Kind::kWarning,
      parse_prose(fmt::format("This report shows {} of {} runs: of each case and workload, the newest. `--label` and "
                              "`--invocation` select others, `--max-runs {}` shows all, and `kymo runs` lists them.",
                              runs, all, all))};
}

/// The profile with which the newest of the selected runs that have one were measured, or else that of the report.
std::string profile_of(const ReportDefinition& definition, const store::ResultsDatabase& database) {
  const auto found = database.query(
      "SELECT p.profile FROM selected_run s JOIN run r ON r.run_id = s.run_id "
      "JOIN invocation_profile p ON p.invocation_id = r.invocation_id WHERE r.suite = :suite "
      "ORDER BY r.run_id DESC LIMIT 1",
      {{"suite", definition.suite}});
  return found.rows.empty() ? definition.profile : found.rows[0][0].text;
}

void attach_files(Document& document, const Request& request) {
  for (Section& section : document.sections) {
    for (Block& block : section.blocks) {
      if (Chart* chart = std::get_if<Chart>(&block)) chart->attachments = request.files_of(*chart);
    }
  }
}

}  // namespace

ReportDefinition find_report(const std::string& name) { return read_definition(folder_of(name)); }

const std::vector<Renderer>& renderers() {
  static const std::vector<Renderer> all{
      {"markdown", render_markdown}, {"latex", render_latex}, {"typst", render_typst}, {"html", render_html},
      {"csv", render_csv},           {"text", render_text},   {"pdf", render_pdf}};
  return all;
}

std::vector<std::string> known_formats() {
  std::vector<std::string> names;
  for (const Renderer& renderer : renderers()) names.push_back(renderer.format);
  return names;
}

std::string inline_text(const Spans& spans, const std::array<InlineStyle, 4>& styles) {
  std::string out;
  for (const Span& span : spans) {
    const InlineStyle& style = styles.at(static_cast<std::size_t>(span.style));
    out += fmt::format(fmt::runtime(style.format), style.escape(span.text));
  }
  return out;
}

std::vector<std::string> list_reports() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(reports_folder(), error)) {
    if (fs::is_regular_file(entry.path() / "report.toml")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> make_report(store::ResultsDatabase& database, const ReportDefinition& whole,
                                  const Request& request) {
  ReportDefinition definition = whole;
  if (request.hand_in) std::erase_if(definition.sections, &SectionSpec::in_appendix);
  const std::vector<Renderer> chosen = renderers_of(request.formats);
  if (std::ranges::find(chosen, "pdf", &Renderer::format) != chosen.end()) require_typst();
  const std::int64_t began_ns = now_ns();
  RunSelection selected(database);
  const std::int64_t all = select_runs(selected, database.file(), request, definition);
  const bool is_limited = definition.hides_history && !request.comparison && all > request.most_runs;
  const std::int64_t runs = is_limited ? request.most_runs : all;
  const std::string provenance = fmt::format(
      "Generated by kymo {} from {} {} in {}. Numbers are query results of that database, except in formulas and "
      "explanations, which are marked as such.",
      version(), runs, runs == 1 ? "run" : "runs", database.file().filename().string());
  const std::map<std::string, std::string> names = names_of_queries(definition);
  if (definition.hides_history) {
    log::debug(fmt::format("{:.3f} s: select {} runs", static_cast<double>(now_ns() - began_ns) / 1e9, runs));
    selected.hide_history(is_limited);
    log::debug(fmt::format("{:.3f} s: hide the others", static_cast<double>(now_ns() - began_ns) / 1e9));
    std::vector<std::string> texts;
    for (const auto& [sql, name] : names) texts.push_back(sql);
    selected.evaluate_once(texts);
  }
  const QueryFunction query = [&](const std::string& sql) {
    const std::int64_t start_ns = now_ns();
    store::ResultsDatabase::Table table = database.query(sql);
    log::debug(fmt::format("{:.3f} s, {} rows: {}", static_cast<double>(now_ns() - start_ns) / 1e9, table.rows.size(),
                           names.at(sql)));
    return table;
  };
  Document document = build_document(definition, query, provenance);
  if (const std::string profile = profile_of(definition, database); !profile.empty())
    name_profile(document, definition.suite, profile);
  if (is_limited) document.front_matter.emplace_back(limit_notice(runs, all));
  if (request.files_of && std::ranges::find(chosen, "html", &Renderer::format) != chosen.end())
    attach_files(document, request);

  std::vector<OutputFile> main_files;
  std::vector<OutputFile> other_files;
  if (request.hand_in) {
    other_files = render_csv(document);
    document = shortened_to_hand_in(std::move(document));
  }
  for (const Renderer& renderer : chosen) {
    std::vector<OutputFile> files = renderer.render(document);
    for (std::size_t i = 0; i < files.size(); ++i) (i == 0 ? main_files : other_files).push_back(std::move(files[i]));
  }
  Staging staging(request.out_folder);
  for (const OutputFile& file : main_files) staging.add(file);
  for (const OutputFile& file : other_files) staging.add(file);
  return staging.move_output();
}

}  // namespace kymo::report
