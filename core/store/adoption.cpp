// SPDX-License-Identifier: Apache-2.0
#include "store/adoption.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/plan.hpp"
#include "store/opening.hpp"
#include "store/tables.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

template <typename Number>
bool parse_number(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

void adopt_table(const Connection& results, const Connection& source, const RankFileName& whose, const ObservedTable& table) {
  const std::vector<std::string> columns = common_columns(source, results, table.name);
  const std::string of_pass = table.has_pass ? " AND pass = ?3" : "";
  Statement select(source, select_sql(table.name, columns) + " WHERE run_id = ?1 AND rank = ?2" + of_pass);
  select.bind(1, whose.run_id).bind(2, whose.rank);
  if (table.has_pass) select.bind(3, whose.pass);
  Statement insert(results, insert_sql(table.name, columns));
  copy_rows(select, insert, {});
}

void adopt_rank(const Connection& results, const Connection& source, const RankFileName& whose) {
  Statement select(source,
                   "SELECT device_id, resident_peak_bytes, allocated_peak_bytes, reserved_peak_bytes FROM main.rank "
                   "WHERE run_id = ? AND rank = ? AND pass = ?");
  select.bind_all(whose.run_id, whose.rank, whose.pass);
  if (!select.step()) throw Error("it belongs to another run, rank or pass than its name says");
  const auto number = [&](int column) { return select.is_null(column) ? std::optional<std::int64_t>() : select.integer(column); };
  std::optional<std::int64_t> device_id = number(0);
  if (device_id) device_id = adopt_device(results, source, *device_id);
  Statement(
      results,
      "INSERT OR REPLACE INTO main.rank (run_id, rank, pass, pid, host, status, device_id, resident_peak_bytes, allocated_peak_bytes, "
      "reserved_peak_bytes, stdout, stderr) VALUES (?, ?, ?, 0, '', '', ?, ?, ?, ?, '', '')")
      .bind_all(whose.run_id, whose.rank, whose.pass, device_id, number(1), number(2), number(3))
      .run();
}

/// All rows of a file or none. Returns what is wrong with the file, or nothing; throws if the results database itself fails.
std::optional<std::string> adopt_file(const Connection& results, const RankFileName& whose, const fs::path& file) {
  results.exec("SAVEPOINT rank_file");
  try {
    const auto source = open_rank_file(file, own_schema());
    adopt_rank(results, *source, whose);
    for (const ObservedTable& table : observed_tables()) adopt_table(results, *source, whose, table);
  } catch (const Error& error) {
    if (results.is_broken()) throw;
    results.exec("ROLLBACK TO rank_file; RELEASE rank_file");
    return error.what();
  }
  results.exec("RELEASE rank_file");
  return std::nullopt;
}

}  // namespace

std::optional<RankFileName> parse_rank_file_name(const fs::path& file) {
  const std::string suffix = ".kymo";
  std::string name = file.filename().string();
  if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) return std::nullopt;
  name.resize(name.size() - suffix.size());
  const std::vector<std::string> parts = split(name, '-');
  RankFileName parsed;
  if (parts.size() != 4 || parts[0] != "RUN" || !parse_number(parts[1], parsed.run_id) || !parse_number(parts[2], parsed.rank))
    return std::nullopt;
  try {
    parsed.pass = measure::to_string(measure::pass_from(parts[3]));
  } catch (const Error&) {
    return std::nullopt;
  }
  return parsed;
}

void add_loss(const Connection& results, std::int64_t run_id, int rank, const std::string& pass, const std::string& source,
              std::int64_t count, const std::string& detail) {
  Statement(results,
            "INSERT INTO main.loss (run_id, rank, pass, sequence, source, count, detail) VALUES (?1, ?2, ?3, "
            "(SELECT coalesce(max(sequence), -1) + 1 FROM main.loss WHERE run_id = ?1 AND rank = ?2 AND pass = ?3), ?4, ?5, ?6)")
      .bind_all(run_id, rank, pass, source, count, detail)
      .run();
}

std::int64_t adopt_device(const Connection& results, const Connection& source, std::int64_t source_id) {
  std::vector<std::string> columns = common_columns(source, results, "device");
  columns.erase(columns.begin() + position_of(columns, "device_id"));
  Statement select(source, select_sql("device", columns) + " WHERE device_id = ?");
  select.bind(1, source_id);
  Statement insert(results, insert_sql("device", columns));
  copy_rows(select, insert, {});
  Statement uuid(source, "SELECT uuid FROM main.device WHERE device_id = ?");
  uuid.bind(1, source_id);
  if (!uuid.step()) throw Error("it names a device that it does not hold");
  Statement id(results, "SELECT device_id FROM main.device WHERE uuid = ?");
  id.bind(1, uuid.text(0));
  if (!id.step()) throw Error("it names a device without the facts that a device must have");
  return id.integer(0);
}

void adopt_rank_files(const Connection& results, std::int64_t run_id, const std::vector<fs::path>& files) {
  std::vector<fs::path> ordered = files;
  // Where passes repeat each other's rows, those of the time pass come first and stay.
  const auto is_time = [](const fs::path& file) { return file.filename().string().find("-time.") != std::string::npos; };
  std::stable_partition(ordered.begin(), ordered.end(), is_time);
  for (const fs::path& file : ordered) {
    const auto name = parse_rank_file_name(file);
    if (!name || name->run_id != run_id) {
      add_loss(results, run_id, -1, "", "store", -1,
               "rank file " + quote(file.filename().string()) + " has not the name of a file of this run");
      continue;
    }
    const auto mistake = adopt_file(results, *name, file);
    if (mistake) add_loss(results, run_id, name->rank, name->pass, "store", -1, "rank file not adopted: " + *mistake);
  }
}

}  // namespace kymo::store
