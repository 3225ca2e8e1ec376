// SPDX-License-Identifier: Apache-2.0
// The import of a rank file, an SQLite database that a worker wrote: whatever the file contains, finalizing its run
// succeeds, imports rows of that run only or nothing, and leaves the file as it is.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>

#include "base/error.hpp"
#include "base/file.hpp"
#include "fuzz/fuzz.hpp"
#include "store/copy_rows.hpp"
#include "store/impl.hpp"
#include "unit/store/event_record.hpp"
#include "unit/store/fixture.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace kymo::fuzz {
namespace {

using namespace kymo::store;
namespace fs = std::filesystem;

constexpr measure::Pass kPass = measure::Pass::kTime;  // statistics are derived from its rows

/// The rows of every table as text, except the time at which the run was finalized.
std::map<std::string, std::string> contents(const Connection& results) {
  std::map<std::string, std::string> found;
  Statement tables(results, "SELECT name FROM main.sqlite_master WHERE type = 'table'");
  while (tables.step()) {
    const std::string table = tables.text(0);
    std::string& rows = found[table];
    Statement select(results, "SELECT * FROM main." + table);
    while (select.step()) {
      for (int column = 0; column < select.column_count(); ++column) {
        if (std::string_view(sqlite3_column_name(select.handle(), column)) != "ended_at")
          rows += select.text(column) + '|';
      }
      rows += '\n';
    }
  }
  return found;
}

/// A results database in memory with one run, and the name of its rank file.
class Results {
 public:
  Results() : folder_(make_private_folder("kymo-fuzz")) {
    const fs::path file = folder_ / "results.db";
    {
      ResultsDatabase database(file, ResultsDatabase::Mode::kCreate);
      run_id_ = database.begin_run(testing::make_run(database.begin_invocation("kymo run", {})));
    }
    const Connection stored(file, Connection::Access::kReadOnly);
    connection_ = Connection::temporary("results");
    sqlite3_backup* copy = sqlite3_backup_init(connection_->handle(), "main", stored.handle(), "main");
    sqlite3_backup_step(copy, -1);
    require(sqlite3_backup_finish(copy) == SQLITE_OK, "the results database can be copied");
    rank_file_ = testing::rank_file_name(folder_, run_id_, 0, kPass);
    for (const Keep keep : kKeeps) {
      const Transaction transaction(*connection_);
      close_run(*connection_, run_id_, {}, {}, {}, keep);
      without_file_[keep] = contents(*connection_);
    }
  }
  ~Results() { fs::remove_all(folder_); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Finalizes the run with a file of these bytes, checks the outcome and undoes it.
  void finalize(std::string_view bytes) const {
    write_bytes(rank_file_, bytes);
    const Keep keep = kKeeps[std::hash<std::string_view>{}(bytes) % std::size(kKeeps)];
    const Transaction transaction(*connection_);
    close_run(*connection_, run_id_, {}, {}, {rank_file_}, keep);
    require(read_file(rank_file_) == bytes, "the rank file is not modified");
    const auto files = std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    require(files == 2, "nothing is written next to the rank file");
    if (connection_->integer("SELECT count(*) FROM dropped_record WHERE source = 'store' AND count = -1 AND detail "
                             "LIKE 'rank file not imported: %'") > 0) {
      check_rejected(keep);
    } else {
      check_imported();
    }
  }

  /// A rank file with rows in all tables.
  std::string valid_file() const {
    write_rank_file(rank_file_, run_id_, 0, kPass, testing::make_event_record());
    testing::tamper(rank_file_, "PRAGMA page_size = 512; VACUUM");  // a quarter of the size
    return read_file(rank_file_);
  }

 private:
  static constexpr Keep kKeeps[] = {Keep::kAll, Keep::kOneStep, Keep::kSummary};

  void check_rejected(Keep keep) const {
    auto found = contents(*connection_);
    auto expected = without_file_.at(keep);
    found.erase("dropped_record");
    expected.erase("dropped_record");
    for (const auto& [table, rows] : expected)
      require(found[table] == rows, "no row of a rejected file is in " + table);
  }

  void check_imported() const {
    for (const std::string& table : tables_of_runs(*connection_)) {
      Statement others(*connection_, "SELECT count(*) FROM main." + table + " WHERE run_id <> ?");
      others.bind(1, run_id_).step();
      require(others.integer(0) == 0, "rows belong to the run: " + table);
    }
    require(connection_->text("PRAGMA main.quick_check(1)") == "ok", "the results database is intact");
    require(connection_->text("PRAGMA main.foreign_key_check").empty(), "every reference has a row");
  }

  fs::path folder_;
  fs::path rank_file_;
  std::int64_t run_id_ = 0;
  std::unique_ptr<Connection> connection_;
  std::map<Keep, std::map<std::string, std::string>> without_file_;
};

const Results& results() {
  static const Results made;
  return made;
}

/// Changes a valid file with SQL, which changed bytes rarely achieve: SQLite reports most of them as damage.
class Mutation {
 public:
  Mutation(sqlite3* database, unsigned seed) : database_(database), random_(seed) {}

  void apply() {
    run("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON");
    const std::string table = pick("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0");
    const std::string column = pick("SELECT name FROM pragma_table_info('" + table + "')");
    if (table.empty() || column.empty()) return;
    const std::string one = " WHERE " + column + " IS (SELECT " + column + " FROM " + table + " LIMIT 1 OFFSET " +
                            std::to_string(below(8)) + ")";
    switch (below(16)) {
      case 0:
        return run("DROP TABLE " + table);
      case 1:
        return run("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO other");
      case 2:
        return run("ALTER TABLE " + table + " DROP COLUMN " + column);
      case 3:
        return run("ALTER TABLE " + table + " RENAME TO hidden; CREATE VIEW " + table + " AS SELECT * FROM hidden");
      case 4:
        return run("DELETE FROM " + table + one);
      case 5:
        return run("DELETE FROM " + table);
      case 6:
        return run("UPDATE OR REPLACE " + table + " SET " + column + " = " + value(table));
      case 7:
        return run("PRAGMA user_version = " + std::to_string(below(4)));
      case 8: {
        const std::string copy = "CREATE TABLE copied AS SELECT * FROM " + table + "; ";
        return run(copy + "DROP TABLE " + table + "; ALTER TABLE copied RENAME TO " + table);  // without constraints
      }
      default:
        return run("UPDATE OR IGNORE " + table + " SET " + column + " = " + value(table) + one);
    }
  }

 private:
  std::uint32_t below(std::uint32_t count) { return random_() % count; }

  std::string value(const std::string& table) {
    static constexpr const char* kValues[] = {"NULL",
                                              "0",
                                              "-1",
                                              "1",
                                              "2147483648",
                                              "9223372036854775807",
                                              "1e308",
                                              "-1e308",
                                              "9e999",
                                              "''",
                                              "'time'",
                                              "'step'",
                                              "x'ff'",
                                              "-9223372036854775808",
                                              "'a' || char(0, 10)",
                                              "CAST(x'c328ff' AS TEXT)",
                                              "zeroblob(5000)",
                                              "'1e5'",
                                              "' 12'"};
    if (below(4) > 0) return kValues[below(std::size(kValues))];
    const std::string column = pick("SELECT name FROM pragma_table_info('" + table + "')");
    return "(SELECT " + column + " FROM " + table + " LIMIT 1 OFFSET " + std::to_string(below(8)) + ")";
  }

  /// One of the rows of a query; empty if there is none.
  std::string pick(const std::string& sql) {
    std::vector<std::string> found;
    const auto add = [](void* to, int, char** values, char**) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(values[0] ? values[0] : "");
      return 0;
    };
    sqlite3_exec(database_, sql.c_str(), add, &found, nullptr);
    return found.empty() ? "" : found[below(static_cast<std::uint32_t>(found.size()))];
  }
  void run(const std::string& sql) { sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr); }

  sqlite3* database_;
  std::minstd_rand random_;
};

/// Returns the new size, or 0 if the bytes are not a usable database or the result is too large.
std::size_t mutate_rows(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(nullptr, sqlite3_close);
  sqlite3* opened = nullptr;
  sqlite3_open(":memory:", &opened);
  database.reset(opened);
  auto* bytes = static_cast<unsigned char*>(sqlite3_malloc64(size));
  std::copy_n(data, size, bytes);
  const auto length = static_cast<sqlite3_int64>(size);
  if (sqlite3_deserialize(opened, "main", bytes, length, length,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK)
    return 0;
  Mutation(opened, seed).apply();
  sqlite3_int64 changed_size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> changed(
      sqlite3_serialize(opened, "main", &changed_size, 0), sqlite3_free);
  if (!changed || changed_size == 0 || static_cast<std::size_t>(changed_size) > max_size) return 0;
  std::copy_n(changed.get(), changed_size, data);
  return static_cast<std::size_t>(changed_size);
}

}  // namespace
}  // namespace kymo::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);  // in memory
  const std::string seed = kymo::fuzz::results().valid_file();
  kymo::fuzz::write_seeds(*count, *arguments, {seed});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (seed % 16 != 0) {
    if (const std::size_t changed = kymo::fuzz::mutate_rows(data, size, max_size, seed); changed > 0) return changed;
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kymo::fuzz::results().finalize(kymo::fuzz::as_text(data, size));
  return 0;
}
