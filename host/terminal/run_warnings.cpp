// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "terminal/results_table.hpp"
#include "terminal/run_results.hpp"

namespace kymo::terminal {
namespace {

constexpr std::size_t kMaxNamedRuns = 10;  // runs named in one line
constexpr std::size_t kMaxWarnings = 5;    // lines

std::string listed(std::vector<std::string> names, std::size_t most = kMaxNamedRuns) {
  const std::size_t more = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

/// Whether a warning changes how the results that are shown are to be read. The standard deviation of unstable steps is
/// shown beside their mean.
bool matters(const std::string& kind, const std::string& detail) {
  return kind != "unstable" && (kind != "not verified" || detail != "not requested");
}

/// A run may have the same warning several times, for example once for each pass.
void add_once(std::vector<std::string>& runs, const std::string& run) {
  if (runs.empty() || runs.back() != run) runs.push_back(run);
}

}  // namespace

std::vector<std::string> failures(const Json& results) {
  std::vector<std::string> reasons;  // in order of first occurrence
  std::map<std::string, std::vector<std::string>> runs;
  for (const Json& result : results) {
    if (result["status"] == "ok") continue;
    // The stage (create, prepare, verify) or the phase of the step in which it failed.
    const std::string stage = result.value("failed_phase", "");
    const std::string reason = text_at(result, "status") + (stage.empty() ? "" : " in " + visible(stage)) + ": " +
                               visible(text_at(result, "detail"));
    if (runs[reason].empty()) reasons.push_back(reason);
    runs[reason].push_back(result["run_id"].dump());
  }
  std::vector<std::string> lines;
  for (const std::string& reason : reasons)
    lines.push_back((runs[reason].size() == 1 ? "run " : "runs ") + listed(runs[reason]) + " " + reason);
  return lines;
}

std::vector<std::string> warnings(const Json& results, bool all) {
  struct Kind {
    std::string name, detail;  // that of the first run
    std::vector<std::string> runs;
    bool is_alike = true;
  };
  std::vector<Kind> kinds;  // in order of first occurrence
  for (const Json& run : results) {
    for (const Json& each : run["warnings"]) {
      const auto name = text_at(each, "kind"), detail = text_at(each, "detail");
      if (!all && !matters(name, detail)) continue;
      const auto is_same = [&](const Kind& kind) { return kind.name == name && (!all || kind.detail == detail); };
      auto kind = std::ranges::find_if(kinds, is_same);
      if (kind == kinds.end()) kind = kinds.insert(kind, {name, detail, {}});
      kind->is_alike = kind->is_alike && kind->detail == detail;
      add_once(kind->runs, run["run_id"].dump());
    }
  }
  std::ranges::stable_sort(kinds, std::greater{}, [](const Kind& kind) { return kind.runs.size(); });
  std::vector<std::string> lines, more;
  for (const Kind& kind : kinds) {
    if (!all && kinds.size() > kMaxWarnings && lines.size() + 1 == kMaxWarnings) {
      more.push_back(kind.name);
      continue;
    }
    const std::size_t count = kind.runs.size();
    lines.push_back((count == 1                ? "run " + kind.runs.front()
                     : count == results.size() ? "all runs"
                                               : std::to_string(count) + " runs (" + listed(kind.runs, 3) + ")") +
                    ": " + kind.name +
                    (kind.detail.empty() ? "" : (kind.is_alike ? ": " : ", first: ") + visible(kind.detail)));
  }
  if (!more.empty()) lines.push_back("also: " + join(more, ", ") + " (--wide, kymo show RUN --wide)");
  return lines;
}

}  // namespace kymo::terminal
