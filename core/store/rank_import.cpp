// SPDX-License-Identifier: Apache-2.0
#include "store/rank_import.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/plan.hpp"
#include "store/copy_rows.hpp"
#include "store/open.hpp"
#include "store/retention.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

template <typename Number>
bool parse_number(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

/// A rank file and the destination of its rows.
struct RankImport {
  const Connection& results;
  const Connection& source;
  const RankFileName& whose;
  const Retention& retention;
  const IdMap& texts;
  RowCapture& capture;
  bool is_same_version = false;  ///< of the schema
};

std::string owner_condition(const Table& table) {
  return std::string("run_id = ?1 AND rank = ?2") + (table.owner() == RowOwner::kPass ? " AND pass = ?3" : "");
}

void bind_owner(Statement& statement, const RankFileName& whose, const Table& table) {
  statement.bind(1, whose.run_id).bind(2, whose.rank);
  if (table.owner() == RowOwner::kPass) statement.bind(3, whose.pass);
}

/// Returns true if all rows of a table belong to the file's run, rank and pass. The table is ordered by these columns,
/// so it suffices to check the first and the last row.
bool holds_nothing_else(const Connection& source, const RankFileName& whose, const Table& table) {
  if (table.owner() != RowOwner::kPass) return false;
  const std::string end = "(SELECT " + owner_condition(table) + " FROM main." + table.name() + " ORDER BY ";
  Statement ends(source, "SELECT " + end + "run_id, rank, pass LIMIT 1) AND " + end +
                             "run_id DESC, rank DESC, pass DESC LIMIT 1)");
  bind_owner(ends, whose, table);
  return ends.step() && ends.integer(0) != 0;
}

bool is_empty(const Connection& source, const Table& table) {
  return source.integer("SELECT EXISTS (SELECT 1 FROM main." + table.name() + ")") == 0;
}

/// Returns the number of rows that referred to strings missing from the file.
std::int64_t import_table(const RankImport& rank_import, const Table& table) {
  const RankFileName& whose = rank_import.whose;
  CopyTarget to{rank_import.results, table.name(),
                common_columns(rank_import.source, rank_import.results, table.name())};
  if (rank_import.is_same_version && to.columns != columns_of(rank_import.results, table.name()))
    throw Error(std::string("the file is damaged: its table ") + table.name() + " lacks columns");
  if (to.columns.empty()) return 0;  // the file is newer and has no such table
  if (is_empty(rank_import.source, table)) return 0;
  const auto condition = retained_rows(rank_import.retention, rank_import.source, whose, table);
  if (!condition) return 0;
  to.fixed = {{"run_id", whose.run_id}, {"rank", std::int64_t{whose.rank}}};
  if (table.owner() == RowOwner::kPass) to.fixed.push_back({"pass", whose.pass});
  for (const FixedColumn& column : to.fixed) std::erase(to.columns, column.name);
  std::string wanted = *condition;
  const bool all_own = holds_nothing_else(rank_import.source, whose, table);
  if (!all_own) wanted = owner_condition(table) + (wanted.empty() ? "" : " AND " + wanted);
  Statement select(rank_import.source, RowCapture::select_sql(table.name(), to.columns, wanted));
  if (!all_own) bind_owner(select, whose, table);
  std::vector<Translation> translations;
  translate_texts(table, to.columns, rank_import.texts, translations);
  return copy_rows(select, rank_import.capture, to, translations);
}

void import_rank(const Connection& results, const Connection& source, const RankFileName& whose) {
  CopyTarget to{results, "rank", common_columns(source, results, "rank")};
  Statement select(source, select_sql("rank", to.columns) + " WHERE run_id = ? AND rank = ? AND pass = ?");
  select.bind_all(whose.run_id, whose.rank, whose.pass);
  if (!select.step()) throw Error("its contents belong to another run, rank or pass than its name states");
  IdMap devices;
  const int device = position_of(to.columns, "device_id");
  if (!select.is_null(device))
    devices.set(select.integer(device), import_device(results, source, select.integer(device)));
  select.reset();
  to.conflict = Conflict::kReplace;
  copy_rows(select, to, {{device, &devices}});
}

/// Imports all rows of a file or none. Returns an error message if the file is invalid. Throws if the results database
/// itself fails.
std::optional<std::string> import_file(const Connection& results, const RankFileName& whose, const fs::path& file,
                                       const Retention& retention) {
  results.exec("SAVEPOINT rank_file");
  try {
    const auto source = open_rank_file(file, own_schema());
    import_rank(results, *source, whose);
    const IdMap texts = import_texts(results, *source, true);
    RowCapture capture(*source);
    const bool is_same_version = meta_value(*source, "schema_version") == meta_value(results, "schema_version");
    const RankImport rank_import{results, *source, whose, retention, texts, capture, is_same_version};
    std::int64_t unknown = 0;
    for (const auto& table : observed_tables()) {
      if (table->owner() != RowOwner::kString) unknown += import_table(rank_import, *table);
    }
    if (unknown > 0)
      add_dropped_records(results, whose.run_id, whose.rank, whose.pass, "store", unknown, kUnknownTexts);
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
  if (name.size() <= suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
    return std::nullopt;
  name.resize(name.size() - suffix.size());
  const std::vector<std::string> parts = split(name, '-');
  RankFileName parsed;
  if (parts.size() != 4 || parts[0] != "RUN" || !parse_number(parts[1], parsed.run_id) ||
      !parse_number(parts[2], parsed.rank))
    return std::nullopt;
  try {
    parsed.pass = measure::to_string(enum_from<measure::Pass>(parts[3]));
  } catch (const Error&) {
    return std::nullopt;
  }
  return parsed;
}

void add_dropped_records(const Connection& results, std::int64_t run_id, int rank, const std::string& pass,
                         const std::string& source, std::int64_t count, const std::string& detail) {
  Statement(results, insert_next_sql("dropped_record", "run_id, rank, pass", "source, count, detail"))
      .bind_all(run_id, rank, pass, source, count, detail)
      .run();
}

std::int64_t import_device(const Connection& results, const Connection& source, std::int64_t source_id) {
  std::vector<std::string> columns = common_columns(source, results, "device");
  if (std::erase(columns, "device_id") == 0 || columns.empty())
    throw Error("the file is damaged: it has no table of devices");
  Statement select(source, select_sql("device", columns) + " WHERE device_id = ?");
  select.bind(1, source_id);
  copy_rows(select, {results, "device", columns}, {});
  Statement uuid(source, "SELECT uuid FROM main.device WHERE device_id = ?");
  uuid.bind(1, source_id);
  if (!uuid.step()) throw Error("it refers to a device that it does not contain");
  Statement id(results, "SELECT device_id FROM main.device WHERE uuid = ?");
  id.bind(1, uuid.text(0));
  if (!id.step()) throw Error("its device row lacks required values");
  const std::int64_t device_id = id.integer(0);
  // An older version may have stored the device without some of its properties.
  select.reset();
  select.step();
  for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
    if (select.is_null(i)) continue;
    const std::string& column = columns[static_cast<std::size_t>(i)];
    Statement(results, "UPDATE main.device SET " + column + " = ? WHERE device_id = ? AND " + column + " IS NULL")
        .bind_all(select.text(i), device_id)
        .run();
  }
  return device_id;
}

IdMap import_texts(const Connection& results, const Connection& source, bool newer) {
  IdMap ids;
  if (columns_of(source, "string").empty()) return ids;  // the file is older than the table
  Statement texts(source, "SELECT string_id, text FROM main.string ORDER BY string_id");
  Statement insert(results, "INSERT OR IGNORE INTO main.string (text) VALUES (?)");
  Statement find(results, "SELECT string_id FROM main.string WHERE text = ?");
  while (texts.step()) {
    const std::string text = texts.text(1);
    insert.bind(1, text).run();
    if (find.bind(1, text).step()) ids.set(texts.integer(0), find.integer(0));
    find.reset();
  }
  for (const auto& table : observed_tables()) {
    if (table->owner() != RowOwner::kString) continue;
    const std::vector<std::string> columns = common_columns(source, results, table->name());
    std::vector<Translation> translations;
    translate_texts(*table, columns, ids, translations);
    Statement select(source, select_sql(table->name(), columns));
    copy_rows(select, {results, table->name(), columns, {}, newer ? Conflict::kReplace : Conflict::kKeepOld},
              translations);
  }
  return ids;
}

void import_rank_files(const Connection& results, std::int64_t run_id, const std::vector<fs::path>& files,
                       const Retention& retention) {
  std::vector<fs::path> ordered = files;
  // If several passes contain the same rows, those of the time pass take precedence, so import it first.
  const auto is_time = [](const fs::path& file) {
    return file.filename().string().find("-time.") != std::string::npos;
  };
  std::stable_partition(ordered.begin(), ordered.end(), is_time);
  for (const fs::path& file : ordered) {
    const auto name = parse_rank_file_name(file);
    if (!name || name->run_id != run_id) {
      add_dropped_records(results, run_id, -1, "", "store", -1,
                          "rank file " + quote(file.filename().string()) + " does not belong to this run");
      continue;
    }
    if (!fs::exists(file)) {
      add_dropped_records(results, run_id, name->rank, name->pass, "store", -1,
                          "the worker ended before it wrote its rank file");
      continue;
    }
    const auto error_code = import_file(results, *name, file, retention);
    if (error_code)
      add_dropped_records(results, run_id, name->rank, name->pass, "store", -1,
                          "rank file not imported: " + *error_code);
  }
}

}  // namespace kymo::store
