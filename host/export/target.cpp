// SPDX-License-Identifier: Apache-2.0
#include "export/target.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::exports {

using store::ResultsDatabase;
using Parameters = std::vector<std::pair<std::string, std::string>>;

namespace {

std::string exists_in(const std::string& table) {
  return "EXISTS (SELECT 1 FROM main.\"" + table +
         "\" e WHERE e.run_id = k.run_id AND e.rank = k.rank AND e.pass = k.pass)";
}

/// All workers that recorded the requested data, newest run first.
std::vector<Target> all_targets(const ResultsDatabase& database, const Wanted& wanted,
                                const std::optional<std::int64_t>& run) {
  std::vector<std::string> conditions;
  for (const std::string& table : wanted.tables) conditions.push_back(exists_in(table));
  std::vector<std::string> details{"0"};
  for (const std::string& table : wanted.details) details.push_back(exists_in(table));
  std::string sql = "SELECT k.run_id, k.rank, k.pass, (" + join(details, " OR ") +
                    ") FROM main.rank k JOIN main.run r ON r.run_id = k.run_id WHERE (" + join(conditions, " OR ") +
                    ")";
  Parameters parameters;
  if (run) {
    sql += " AND k.run_id = CAST(:run AS INTEGER)";
    parameters.emplace_back("run", std::to_string(*run));
  }
  sql += " ORDER BY r.started_at DESC, k.run_id DESC, k.rank";
  std::vector<Target> targets;
  for (const auto& row : database.query(sql, parameters).rows)
    targets.push_back({row[0].integer, row[1].integer, row[2].text, row[3].integer != 0});
  std::erase_if(targets, [&](const Target& each) { return !contains(wanted.passes, each.pass); });
  return targets;
}

[[noreturn]] void reject_run(const ResultsDatabase& database, std::int64_t run, const Wanted& wanted) {
  const auto found =
      database.query("SELECT keep FROM main.run WHERE run_id = CAST(:run AS INTEGER)", {{"run", std::to_string(run)}})
          .rows;
  if (found.empty()) {
    throw UsageError("no run " + std::to_string(run) + " in " + quote(database.file().string()) +
                     "; list the runs with 'kymo sql \"SELECT * FROM run_list\"'");
  }
  const std::string which = "run " + std::to_string(run) + " contains " + wanted.what;
  if (found[0][0].text == "summary")
    throw UsageError(which + ": it was recorded with --keep summary; record it again with --keep all");
  throw UsageError(which + "; record a run with --passes " + join(wanted.passes, " or --passes "));
}

[[noreturn]] void reject(const ResultsDatabase& database, const Choice& choice, const Wanted& wanted,
                         const std::vector<Target>& there) {
  const std::string pass = choice.pass.value_or(wanted.passes.front());
  if (there.empty()) {
    throw UsageError("no run in " + quote(database.file().string()) + " contains the requested data (" + wanted.what +
                     "); record a run with --passes " + join(wanted.passes, " or --passes "));
  }
  std::vector<std::string> known;
  for (const Target& each : there) {
    if (each.run == there.front().run) known.push_back("pass " + each.pass + " of rank " + std::to_string(each.rank));
  }
  throw UsageError("run " + std::to_string(there.front().run) + " has no data for " +
                   (choice.pass ? "pass " + pass : "") + (choice.pass && choice.rank ? ", " : "") +
                   (choice.rank ? "rank " + std::to_string(*choice.rank) : "") + "; it has " + join(known, ", "));
}

}  // namespace

Parameters Target::parameters() const {
  return {{"run", std::to_string(run)}, {"rank", std::to_string(rank)}, {"pass", pass}};
}

std::vector<Target> find_targets(const ResultsDatabase& database, const Choice& choice, const Wanted& wanted) {
  if (choice.pass && !contains(wanted.passes, *choice.pass)) {
    throw UsageError("--pass takes " + join(wanted.passes, ", ") + " here, not " + quote(*choice.pass));
  }
  const std::vector<Target> there = all_targets(database, wanted, choice.run);
  if (there.empty() && choice.run) reject_run(database, *choice.run, wanted);
  const auto fits = [&](const Target& each) {
    return (!choice.pass || each.pass == *choice.pass) && (!choice.rank || each.rank == *choice.rank);
  };
  const auto newest = std::ranges::find_if(there, fits);
  if (newest == there.end()) reject(database, choice, wanted, there);
  std::vector<Target> best;
  for (const std::string& pass : wanted.passes) {
    std::vector<Target> targets;
    std::ranges::copy_if(there, std::back_inserter(targets), [&](const Target& each) {
      return fits(each) && each.run == newest->run && each.pass == pass;
    });
    if (std::ranges::any_of(targets, &Target::has_details)) return targets;
    if (best.empty()) best = std::move(targets);
  }
  if (best.empty()) reject(database, choice, wanted, there);
  return best;
}

std::vector<std::string> other_passes(const ResultsDatabase& database, const Target& target, const Wanted& wanted) {
  std::vector<std::string> passes;
  for (const std::string& pass : wanted.passes)
    for (const Target& each : all_targets(database, wanted, target.run))
      if (each.pass == pass && pass != target.pass && each.rank == target.rank) passes.push_back(pass);
  return passes;
}

std::vector<std::filesystem::path> files_for(const std::vector<Target>& targets, const std::filesystem::path& file,
                                             const std::string& stem, const std::string& extension) {
  if (file == "-" && targets.size() > 1) {
    throw UsageError("run " + std::to_string(targets.front().run) + " has " + std::to_string(targets.size()) +
                     " ranks, which need separate files; select one with --rank to write it to standard output");
  }
  std::vector<std::filesystem::path> files;
  for (const Target& target : targets) {
    const std::string rank = "-rank" + std::to_string(target.rank);
    if (file.empty()) {
      files.emplace_back(stem + "-run" + std::to_string(target.run) + rank + extension);
    } else if (targets.size() == 1) {
      files.push_back(file);
    } else {
      files.push_back(file.parent_path() / (file.stem().string() + rank + file.extension().string()));
    }
  }
  return files;
}

}  // namespace kymo::exports
