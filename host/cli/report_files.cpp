// SPDX-License-Identifier: Apache-2.0
#include "cli/report_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "export/export.hpp"
#include "plan/option_text.hpp"

namespace kymo::cli {
using namespace plan;
namespace {

namespace fs = std::filesystem;

bool is_small(const store::ResultsDatabase& database, const report::RecordedPass& pass, bool memory) {
  const std::string sql = fmt::format(
      "SELECT count(*) FROM (SELECT 1 FROM {} WHERE run_id = CAST(:run AS INTEGER) AND pass = :pass LIMIT {})",
      memory ? "memory_block" : "timeline_bar", kMaxEmbeddedEvents + 1);
  const auto rows = database.query(sql, {{"run", std::to_string(pass.run_id)}, {"pass", pass.pass}}).rows;
  return rows[0][0].integer <= kMaxEmbeddedEvents;
}

std::string command_for(const store::ResultsDatabase& database, const report::RecordedPass& pass, bool memory) {
  return fmt::format("kymo export {} --run {}{} --db {}", memory ? "memory-viz" : "perfetto", pass.run_id,
                     memory ? "" : " --pass " + pass.pass, shell_word(database.file().string()));
}

}  // namespace

void ReportFiles::add_files(std::vector<report::Attachment>& files, const report::RecordedPass& pass, bool memory) {
  report::Attachment file{
      pass, memory ? "Save memory snapshot" : "Save Perfetto trace",
      fmt::format("{}-run{}{}", memory ? "memory" : "trace", pass.run_id, memory ? ".pickle" : ".json"), "",
      command_for(database_, pass, memory)};
  if (!is_small(database_, pass, memory)) return files.push_back(file);
  std::optional<PrivateFolder> scratch;
  exports::Choice choice;
  choice.run = pass.run_id;
  if (!memory) choice.pass = pass.pass;
  std::vector<exports::Written> written;
  try {
    const fs::path target = scratch.emplace("kymo-report").path() / file.file;
    written = memory ? exports::export_memory_viz(database_, choice, target)
                     : exports::export_perfetto(database_, choice, target);
  } catch (const UsageError&) {  // the pass has no events of this kind
    return;
  } catch (const Error& error) {  // TMPDIR is full or missing
    log::warning(file.file + " is not part of the report: " + error.what());
    return files.push_back(file);
  }
  for (const exports::Written& each : written) {
    report::Attachment own = file;
    own.file = each.file.filename().string();
    if (written.size() > 1) own.button += fmt::format(", rank {}", &each - written.data());
    const auto bytes = static_cast<std::int64_t>(fs::file_size(each.file));
    if (bytes <= kMaxEmbeddedBytes && embedded_ + bytes <= kMaxEmbeddedTotal) {
      own.content = read_file(each.file);
      embedded_ += bytes;
    }
    files.push_back(std::move(own));
  }
}

std::vector<report::Attachment> ReportFiles::operator()(const report::Chart& chart) {
  std::vector<report::Attachment> files;
  for (const report::RecordedPass& pass : chart.passes) add_files(files, pass, chart.kind == report::ChartKind::kArea);
  return files;
}

}  // namespace kymo::cli
