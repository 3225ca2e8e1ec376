// SPDX-License-Identifier: Apache-2.0
#include "store/journal_recovery.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "analysis/derive.hpp"
#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "store/journal_format.hpp"
#include "store/journal_reader.hpp"
#include "store/rank_file.hpp"
#include "store/rank_import.hpp"
#include "store/step_journal.hpp"

namespace kymo::store {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kNone = -1;

std::string lost_events_text(const JournalContent& journal) {
  std::string text = "the process was ended before it wrote its events: those since its last complete step are missing";
  if (!journal.record.trace.activities.empty())
    text += ", and the last kernels and copies before it, up to about 2,000, which CUPTI had not delivered";
  if (journal.events_left_out) text += ", as is everything beyond 1 GiB of events";
  return text;
}

void derive(event::PassRecord& record, std::int64_t warmup) {
  try {
    analysis::derive(record, {.warmup = warmup, .classifier = nullptr, .on_host = record.device.kind == "cpu"});
  } catch (const std::exception& error) {
    record.dropped_records.push_back({"analysis", kNone, error.what()});
  }
}

/// Moves a journal and its events into the folder, where a person can look at them. Returns what was done.
std::string set_aside(const fs::path& journal, const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  for (const char* suffix : {"", kEventSuffix}) {
    const fs::path file = journal.string() + suffix;
    if (!error && fs::exists(file)) fs::rename(file, folder / file.filename(), error);
  }
  return error ? "could not be moved to " + quote(folder.string()) + ": " + error.message()
               : "was moved to " + quote(folder.string());
}

}  // namespace

fs::path damaged_journals_of(const fs::path& database) { return fs::weakly_canonical(database).string() + ".damaged"; }

std::string fewer_steps_text(std::int64_t measured, std::int64_t wanted) {
  return "the program ended after " + std::to_string(measured) + " of the " + std::to_string(wanted) +
         " steps to measure";
}

std::optional<std::int64_t> recover_from_journal(const fs::path& rank_file, std::int64_t run_id, int rank,
                                                 measure::Pass pass, const fs::path& damaged_journals) {
  const fs::path file = rank_file.string() + kJournalSuffix;
  if (fs::exists(rank_file) || !fs::exists(file)) return std::nullopt;
  JournalContent journal = read_journal(file);
  event::PassRecord& record = journal.record;
  const std::int64_t measured = std::ranges::count_if(
      record.samples, [](const event::Sample& each) { return each.phase == event::kWholeStep && !each.warmup; });
  if (journal.header.steps && measured < *journal.header.steps)
    record.warnings.push_back({"fewer steps", fewer_steps_text(measured, *journal.header.steps)});
  if (measure::records_events(pass)) {
    derive(record, journal.header.warmup);
    record.dropped_records.push_back({"store", kNone, lost_events_text(journal)});
  }
  for (const std::string& damage : journal.damage)
    record.dropped_records.push_back({"store", kNone, damage + "; it is kept in " + quote(damaged_journals.string())});
  write_rank_file(rank_file, run_id, rank, pass, record);
  if (journal.damage.empty()) {
    remove_journal(file);
  } else {
    log::warning("the journal of rank " + std::to_string(rank) + " of run " + std::to_string(run_id) +
                 " is damaged, and " + set_aside(file, damaged_journals));
  }
  return measured;
}

void recover_journals(const fs::path& folder, const fs::path& damaged_journals) {
  std::vector<fs::path> rank_files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string path = entry.path().string();
    if (!path.ends_with(kJournalSuffix)) continue;
    path.resize(path.size() - std::strlen(kJournalSuffix));
    rank_files.emplace_back(path);
  }
  for (const fs::path& file : rank_files) {
    const auto name = parse_rank_file_name(file);
    if (!name) continue;
    try {
      recover_from_journal(file, name->run_id, name->rank, enum_from<measure::Pass>(name->pass), damaged_journals);
    } catch (const std::exception& error) {  // the run is stored without these measurements
      log::warning("the journal of rank " + std::to_string(name->rank) + " of run " + std::to_string(name->run_id) +
                   " cannot be read (" + error.what() + "), and " +
                   set_aside(file.string() + kJournalSuffix, damaged_journals));
    }
  }
}

}  // namespace kymo::store
