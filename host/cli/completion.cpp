// SPDX-License-Identifier: Apache-2.0
// Completion of command lines: the scripts in share/ for each shell call `kymo complete -- WORDS`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"
#include "cli/commands.hpp"
#include "cli/typed_option.hpp"
#include "measure/outcome.hpp"
#include "measure/plan.hpp"
#include "plan/option_text.hpp"
#include "plan/suite.hpp"
#include "report/report.hpp"
#include "store/results.hpp"
#include "terminal/print.hpp"

namespace kymo::cli {
namespace {

struct Candidate {
  std::string text, documentation;
};
using Candidates = std::vector<Candidate>;

/// Options of sbatch that sweeps are most often given; all others are taken, too.
const std::vector<std::string> kJobOptions{
    "account=", "constraint=", "cpus-per-task=", "exclude=", "exclusive",          "gpus=",  "gres=",
    "mem=",     "nodelist=",   "partition=",     "qos=",     "array_parallelism=", "setup=", "time="};

/// The shell completes file names; with a suffix, of these files.
Candidates files(const std::string& suffix = "") { return {{":files" + suffix, ""}}; }

Candidates candidates_of(const std::vector<std::string>& words) {
  Candidates found;
  for (const std::string& word : words) found.push_back({word, ""});
  return found;
}

/// The words before the one to complete, as far as they matter.
struct Line {
  const CLI::App* command = nullptr;
  const CLI::Option* pending = nullptr;  ///< the option whose value comes next
  std::vector<std::string> arguments;    ///< positional ones
  std::map<std::string, std::string> values;
  bool is_program = false;  ///< after "--"
};

bool takes_value(const CLI::Option& option) { return option.get_type_size() != 0; }

Line read_line(const CLI::App& app, const std::vector<std::string>& words) {
  Line line;
  line.command = &app;
  for (const std::string& word : words) {
    if (line.is_program) break;
    if (line.pending != nullptr) {
      line.values[line.pending->get_name()] = word;
      line.pending = nullptr;
    } else if (word == "--") {
      line.is_program = true;
    } else if (word.starts_with("-")) {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = line.command->get_option_no_throw(word.substr(0, equals));
      if (option == nullptr || !takes_value(*option)) continue;
      if (equals == std::string::npos)
        line.pending = option;
      else
        line.values[option->get_name()] = word.substr(equals + 1);
    } else {
      const auto commands =
          line.command->get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
      if (commands.empty())
        line.arguments.push_back(word);
      else
        line.command = commands.front();
    }
  }
  return line;
}

/// What the databases, plugins, suites and reports contain. Nothing is loaded or written.
class Completion {
 public:
  explicit Completion(Line line) : line_(std::move(line)) { options_.only_cached = true; }

  Candidates candidates(const std::string& word) {
    if (line_.is_program) return files();
    if (line_.pending != nullptr) return values_of(*line_.pending, word);
    if (word.starts_with("-")) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) return options();
      const CLI::Option* option = line_.command->get_option_no_throw(word.substr(0, equals));
      if (option == nullptr) return {};
      return with_prefix(word.substr(0, equals + 1), values_of(*option, word.substr(equals + 1)));
    }
    if (Candidates commands = subcommands(); !commands.empty()) return commands;
    const CLI::Option* argument = next_argument();
    return argument == nullptr ? Candidates{} : values_of(*argument, word);
  }

 private:
  static Candidates with_prefix(const std::string& prefix, Candidates found) {
    for (Candidate& each : found)
      if (!each.text.starts_with(":")) each.text.insert(0, prefix);
    return found;
  }

  /// Candidates for a list whose last item is being written.
  static Candidates list_of(const std::vector<std::string>& items, const std::string& word) {
    const std::size_t comma = word.rfind(',');
    return with_prefix(comma == std::string::npos ? "" : word.substr(0, comma + 1), candidates_of(items));
  }

  Candidates subcommands() const {
    Candidates found;
    for (const CLI::App* command :
         line_.command->get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
      found.push_back({command->get_name(), command->get_description()});
    return found;
  }

  Candidates options() const {
    Candidates found;
    for (const CLI::Option* option :
         line_.command->get_options([](const CLI::Option* each) { return !each->get_group().empty(); }))
      for (const std::string& name : option->get_lnames()) found.push_back({"--" + name, option->get_description()});
    return found;
  }

  const CLI::Option* next_argument() const {
    std::size_t before = 0;
    for (const CLI::Option* option : line_.command->get_options()) {
      if (!option->get_positional()) continue;
      before += static_cast<std::size_t>(option->get_items_expected_max());
      if (line_.arguments.size() < before) return option;
    }
    return nullptr;
  }

  Candidates values_of(const CLI::Option& option, const std::string& word) {
    const std::string name = option.get_name(), type = option.get_type_name();
    if (name == "--pass") return list_of(names_of(measure::Pass{}).names(), word);
    for (const measure::Setting& setting : measure::settings())
      if (name == setting.option() && !setting.type.words.empty()) return list_of(setting.type.words, word);
    if (name == "--format") return list_of(report::known_formats(), word);
    if (name == "--status") return candidates_of(measure::kRunStatusNames.names());
    if (name == "--set" || name == "--axis") return settings("", word, name == "--axis");
    if (name == "--suite" || type == "SUITE") {
      Candidates found = candidates_of(suite_names());
      if (type == "SUITE") append_range(found, files(".toml"));
      return found;
    }
    if (name == "--profile") return profiles();
    if (name == "--on-option") return candidates_of(kJobOptions);
    if (name == "--label") return stored("SELECT DISTINCT label FROM run WHERE label <> ''");
    if (name == "--db" || type == "TARGET" || type == "SOURCE") return files(".db");
    if (name == "--workload" || type.starts_with("WORKLOAD")) return workloads(word);
    if (type == "REPORT") return reports();
    if (type == "SWEEP") return sweeps();
    if (type == "SIDE" || type == "BEFORE AFTER")
      return stored("SELECT DISTINCT label FROM run WHERE label <> '' UNION SELECT invocation_id FROM run");
    if (type == "RUN") return stored("SELECT run_id, workload || ' ' || label FROM run ORDER BY run_id DESC LIMIT 50");
    if (contains(std::vector<std::string>{"FILE", "FOLDER", "PROGRAM", "COMMAND"}, type)) return files();
    return type.find('|') == std::string::npos ? Candidates{} : candidates_of(split(type, '|'));
  }

  const catalog::Catalog& known() {
    if (!catalog_) catalog_ = catalog::discover(options_);
    return *catalog_;
  }

  /// Workloads, or, after WORKLOAD:, its parameters.
  Candidates workloads(const std::string& word) {
    if (const std::size_t colon = word.find(':'); colon != std::string::npos) {
      const std::size_t begin = std::max(colon, word.find_last_of(',') + 1 == 0 ? colon : word.find_last_of(',')) + 1;
      return with_prefix(word.substr(0, begin), settings(word.substr(0, colon), word.substr(begin), false));
    }
    Candidates found;
    for (const catalog::Plugin& plugin : known().plugins)
      for (const catalog::Workload& workload : plugin.workloads)
        found.push_back({workload.name, workload.documentation});
    append_range(found, files(".so"));
    return found;
  }

  /// "name=" or, if the word names a parameter, its values, of this workload or of those on the line.
  Candidates settings(const std::string& workload, const std::string& word, bool is_axis) {
    const std::size_t equals = word.find('=');
    Candidates found;
    std::set<std::string> names;
    const auto add = [&](const catalog::Parameter& parameter) {
      if (equals == std::string::npos) {
        if (names.insert(parameter.name).second) found.push_back({parameter.name + "=", parameter.documentation});
        return;
      }
      if (parameter.name != word.substr(0, equals) || !names.insert(parameter.name).second) return;
      std::vector<std::string> values = parameter.choices;
      if (parameter.type == catalog::ParameterType::kBool) values = {"false", "true"};
      const std::string text = word.substr(equals + 1);
      append_range(found,
                   with_prefix(word.substr(0, equals + 1), is_axis ? list_of(values, text) : candidates_of(values)));
    };
    for (const catalog::Plugin& plugin : known().plugins)
      for (const catalog::Workload& each : plugin.workloads)
        if (workload.empty() ? contains(line_.arguments, each.name) : each.name == workload)
          for (const catalog::Parameter& parameter : each.parameters) add(parameter);
    if (is_axis && equals == std::string::npos) found.push_back({"ranks=", "number of processes"});
    return found;
  }

  Candidates profiles() const {
    return line_.arguments.empty() ? Candidates{} : candidates_of(find_suite(line_.arguments.front(), "").profiles);
  }

  static Candidates reports() {
    Candidates found;
    for (const std::string& name : report::list_reports()) found.push_back({name, report::find_report(name).title});
    append_range(found, files());
    return found;
  }

  std::filesystem::path database() const {
    const auto named = line_.values.find("--db");
    return named == line_.values.end() ? "kymo.db" : named->second;
  }

  /// Each has a directory, whose name is that of the sweep.
  Candidates sweeps() const {
    Candidates found;
    for (const auto& entry : std::filesystem::directory_iterator(database().string() + ".jobs"))
      found.push_back({entry.path().filename().string(), ""});
    return found;
  }

  /// The first and the second column of a query of the database on the line.
  Candidates stored(const std::string& sql) const {
    store::ResultsDatabase results(database(), store::ResultsDatabase::Mode::kReadOnly);
    results.set_limits({.seconds = 0.2});
    Candidates found;
    for (const auto& row : results.query(sql).rows) {
      const auto text = [&](std::size_t column) {
        return row[column].text.empty() ? std::to_string(row[column].integer) : row[column].text;
      };
      found.push_back({text(0), row.size() > 1 ? row[1].text : ""});
    }
    return found;
  }

  Line line_;
  catalog::Options options_;
  std::optional<catalog::Catalog> catalog_;
};

/// Prints one candidate per line, with its documentation after a tab.
int complete(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  const std::string word = words.back();
  words.pop_back();
  std::string text;
  try {
    for (const Candidate& each : Completion(read_line(app, words)).candidates(word)) {
      if (!each.text.starts_with(word) && !each.text.starts_with(":")) continue;
      text += visible(each.text) + (each.documentation.empty() ? "" : "\t" + visible(each.documentation)) + "\n";
    }
  } catch (const std::exception&) {  // a missing database, for example: nothing is known
  }
  print(text);
  return 0;
}

std::filesystem::path script_of(const std::string& shell) {
  static const std::map<std::string, std::string> kFiles{{"bash", "bash-completion/completions/kymo"},
                                                         {"zsh", "zsh/site-functions/_kymo"},
                                                         {"fish", "fish/vendor_completions.d/kymo.fish"}};
  const auto found = kFiles.find(shell);
  if (found == kFiles.end()) throw UsageError("'kymo completion' takes bash, zsh or fish, not " + quote(shell));
  return installation().root / "share" / found->second;
}

}  // namespace

void add_completion(CLI::App& app, Session& session) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes command lines in a shell");
  command->add_option("shell", *shell, "shell that the script is for")->required()->type_name("bash|zsh|fish");
  command->footer("Example: eval \"$(kymo completion bash)\"");
  session.on(*command, [shell] {
    print(read_file(script_of(*shell)));
    return 0;
  });

  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* candidates = app.add_subcommand("complete", "Print how a command line may go on")->group("");
  candidates->add_option("words", *words, "the words after kymo, after --")->type_name("WORD");
  session.on(*candidates, [&app, words] { return complete(app, *words); });
}

}  // namespace kymo::cli
