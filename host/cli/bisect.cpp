// SPDX-License-Identifier: Apache-2.0
// `kymo bisect GOOD BAD`: finds the commit that made a workload slower, with 'git bisect run' and 'kymo ab'.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "base/commit.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "cli/commands.hpp"
#include "cli/run_options.hpp"
#include "cli/typed_option.hpp"
#include "measure/comparison.hpp"
#include "terminal/print.hpp"

namespace kymo::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr double kNoLimit_s = 1e9;               ///< builds and comparisons end by themselves
constexpr double kLargestMargin = 0.99;          ///< of 'kymo ab', which takes margins below 1
constexpr int kGood = 0, kBad = 1, kSkip = 125;  ///< exit codes that 'git bisect run' expects

struct BisectArguments {
  std::string good, bad, workload;
  Words build;
  double max_time_s = 180;
  fs::path database = "kymo.db";
  bool wide = false, markdown = false, json = false;
};

CommandResult run_words(Words words) {
  return run_command({.command = std::move(words), .environment = {}}, kNoLimit_s);
}

std::string git(const fs::path& folder, const Words& arguments) {
  const CommandResult result = run_command(git_command(folder, arguments), kNoLimit_s);
  if (result.end.exit_code != 0) throw UsageError("git " + join(arguments, " ") + ": " + trim(result.stderr_text));
  return trim(result.stdout_text);
}

/// A working tree of the repository beside that of the user, which stays as it is. Removed at the end.
class Worktree {
 public:
  Worktree(fs::path repository, fs::path folder, const std::string& revision)
      : repository_(std::move(repository)), folder_(std::move(folder)) {
    git(repository_, {"worktree", "add", "--quiet", "--detach", folder_.string(), revision});
  }
  ~Worktree() {
    try {
      git(repository_, {"worktree", "remove", "--force", folder_.string()});
    } catch (const std::exception& error) {
      log::warning(error.what());
    }
  }
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;

  const fs::path& folder() const { return folder_; }

 private:
  fs::path repository_, folder_;
};

/// Runs the build in a working tree. Returns the reason if it fails, otherwise an empty text.
std::string build_failure(const Json& setting, const std::string& folder) {
  Words words{"env", "-C", folder};
  for (const Json& word : setting["build"]) words.push_back(word.get<std::string>());
  if (words.size() == 3) return "";
  const CommandResult result = run_words(words);
  if (result.end.exit_code == 0) return "";
  return "the build ended with " + result.end.describe() + ": " + one_line(trim(result.stderr_text), 200);
}

/// The comparison of the candidate's working tree with that of the good commit by `kymo ab`: `verdict`, `ratio`,
/// `ratio_low`, `ratio_high` and `sentence`; if it fails, `verdict` is null and `sentence` the reason.
Json compared(const Json& setting, double margin) {
  const std::string workload = text_at(setting, "workload");
  Words words{own_executable().string(), "ab"};
  for (const char* tree : {"good", "candidate"}) words.push_back(text_at(setting, tree) + "/" + workload);
  const Words options{"--json",   "--no-verify",         "--max-time", shortest_text(real_at(setting, "max_time_s")),
                      "--margin", shortest_text(margin), "--db",       text_at(setting, "database")};
  words.insert(words.end(), options.begin(), options.end());
  const CommandResult result = run_words(words);
  const Json output = Json::parse(result.stdout_text, nullptr, false);
  if (result.end.exit_code == 0 && output.is_object()) return output["pairs"][0];
  return {
      {"verdict", nullptr},
      {"ratio", nullptr},
      {"ratio_low", nullptr},
      {"ratio_high", nullptr},
      {"sentence", "'kymo ab' ended with " + result.end.describe() + ": " + one_line(trim(result.stderr_text), 200)}};
}

/// Bad if the candidate is slower, by more than the margin; good if it is not, even if it may be faster; otherwise
/// unknown.
int result_of(const Json& found, double margin) {
  if (found["verdict"] == "SLOWER" && real_at(found, "ratio") > 1 + margin) return kBad;
  if (found["verdict"] == "FASTER") return kGood;
  return !found["ratio_high"].is_null() && real_at(found, "ratio_high") <= 1 + margin ? kGood : kSkip;
}

/// Compares the commit that is checked out for the candidate. One of twenty comparisons of equal commits finds a
/// difference, and each commit is compared, so that a bad result must be found twice.
std::pair<int, Json> classified(const Json& setting) {
  const double margin = real_at(setting, "margin");
  Json found = compared(setting, margin);
  if (result_of(found, margin) == kBad) found = compared(setting, margin);
  return {result_of(found, margin), std::move(found)};
}

/// Builds and compares the commit that is checked out for the candidate.
int step(const std::string& file) {
  const Json setting = Json::parse(read_file(file));
  const std::string candidate = text_at(setting, "candidate");
  Json row{{"hash", git(candidate, {"rev-parse", "HEAD"})}, {"subject", git(candidate, {"log", "-1", "--format=%s"})}};
  int code = kSkip;
  const std::string failure = build_failure(setting, candidate);
  if (failure.empty()) {
    const auto [result, found] = classified(setting);
    for (const char* name : {"verdict", "ratio", "ratio_low", "ratio_high", "sentence"}) row[name] = found[name];
    code = result;
  } else {
    for (const char* name : {"verdict", "ratio", "ratio_low", "ratio_high"}) row[name] = nullptr;
    row["sentence"] = failure;
  }
  row["result"] = code == kGood ? "good" : code == kBad ? "bad" : "skipped";
  std::ofstream(text_at(setting, "steps"), std::ios::app) << dump_json(row) << '\n';
  return code;
}

void require_slower(const Json& found, const BisectArguments& arguments) {
  if (found["verdict"] == "SLOWER") return;
  throw UsageError(arguments.bad + " is not measured to be slower than " + arguments.good + ": " +
                   text_at(found, "sentence"));
}

/// The commits of which one is the first bad one; a single one unless steps were skipped.
Words remaining(const fs::path& candidate) {
  return split(git(candidate, {"rev-list", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*"}), '\n');
}

void print_result(const Json& result, const BisectArguments& arguments) {
  if (arguments.json) return print(json_text(result));
  print(output_text("bisect", {{"result", dump_json(result)}}, output_style(arguments.wide, arguments.markdown)));
}

int bisect(const BisectArguments& arguments) {
  const auto repository = working_tree_of(fs::current_path());
  if (!repository) throw UsageError("the current directory is in no git working tree");
  if (fs::path(arguments.workload).is_absolute())
    throw UsageError("--workload takes a path relative to the root of the repository, not " +
                     quote(arguments.workload));
  const std::string good_hash = git(*repository, {"rev-parse", "--verify", arguments.good + "^{commit}"});
  const std::string bad_hash = git(*repository, {"rev-parse", "--verify", arguments.bad + "^{commit}"});
  const PrivateFolder folder("kymo-bisect");
  const Worktree good(*repository, folder.path() / "good", good_hash);
  const Worktree candidate(*repository, folder.path() / "candidate", bad_hash);
  const fs::path steps = folder.path() / "steps", file = folder.path() / "setting.json";
  Json setting{{"good", good.folder().string()},
               {"candidate", candidate.folder().string()},
               {"workload", arguments.workload},
               {"build", arguments.build},
               {"max_time_s", arguments.max_time_s},
               {"database", fs::absolute(arguments.database).string()},
               {"steps", steps.string()}};
  for (const Worktree* each : {&good, &candidate})
    if (const std::string failure = build_failure(setting, each->folder().string()); !failure.empty())
      throw UsageError((each == &good ? arguments.good : arguments.bad) + ": " + failure);
  log::info("comparing " + arguments.bad + " with " + arguments.good);
  const Json whole = compared(setting, measure::kDefaultMargin);
  require_slower(whole, arguments);
  // Half of the regression on a logarithmic scale: smaller changes on the way are not the one that is looked for.
  const double margin = std::clamp(std::sqrt(real_at(whole, "ratio")) - 1, measure::kDefaultMargin, kLargestMargin);
  setting["margin"] = margin;
  write_file(file, dump_json(setting));
  git(candidate.folder(), {"bisect", "start", bad_hash, good_hash});
  run_words({"git", "-C", candidate.folder().string(), "bisect", "run", own_executable().string(), "bisect-step",
             file.string()});
  const Words commits = remaining(candidate.folder());
  Json result{{"good", good_hash}, {"bad", bad_hash},        {"sentence", whole["sentence"]}, {"ratio", whole["ratio"]},
              {"margin", margin},  {"steps", Json::array()}, {"first_bad", Json::array()}};
  for (const std::string& line : split(read_file(steps), '\n'))
    if (!line.empty()) result["steps"].push_back(Json::parse(line));
  for (const std::string& hash : commits)
    result["first_bad"].push_back({{"hash", hash}, {"subject", git(*repository, {"log", "-1", "--format=%s", hash})}});
  print_result(result, arguments);
  return static_cast<int>(commits.size() == 1 ? ExitCode::kOk : ExitCode::kRunFailed);
}

}  // namespace

void add_bisect(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<BisectArguments>();
  CLI::App* command = app.add_subcommand(
      "bisect", "Find the commit that made a workload slower, with 'git bisect run' and the verdicts of 'kymo ab'");
  command->add_option("good", arguments->good, "commit that is fast")->required()->type_name("GOOD");
  command->add_option("bad", arguments->bad, "later commit that is slow")->required()->type_name("BAD");
  command->add_option("build", arguments->build, "command that builds a working tree, after -- [none]")
      ->type_name("BUILD");
  command
      ->add_option("--workload", arguments->workload,
                   "what to measure: a file of the repository, or one that the build makes, as for 'kymo ab'")
      ->required()
      ->type_name("FILE[:NAME][:P=V,...]")
      ->check(error_if_empty);
  seconds_option(*command, "--max-time", arguments->max_time_s, 1, 1e6,
                 "time for comparing one commit; without a verdict by then, it is skipped [180]");
  add_table_options(*command, arguments->wide, arguments->markdown, arguments->json);
  add_database_option(*command, arguments->database);
  command->footer(
      "Example: kymo bisect v1.2 main --workload bench/attention.py\n"
      "         kymo bisect v1.2 main --workload build/attention.so -- cmake --build build");
  session.on(*command, [arguments] { return bisect(*arguments); });

  auto file = std::make_shared<std::string>();
  CLI::App* step_command = app.add_subcommand("bisect-step", "Build and compare one commit")->group("");
  step_command->add_option("file", *file, "settings of 'kymo bisect'")->required()->type_name("FILE");
  session.on(*step_command, [file] { return step(*file); });
}

}  // namespace kymo::cli
