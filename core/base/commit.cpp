// SPDX-License-Identifier: Apache-2.0
#include "base/commit.hpp"

#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {
namespace {

namespace fs = std::filesystem;

/// What a git command prints about a working tree; empty if it fails or takes too long.
std::optional<std::string> git(const fs::path& working_tree, const std::vector<std::string>& arguments,
                               double limit_s) {
  try {
    CommandResult result = run_command(git_command(working_tree, arguments), limit_s);
    if (result.timed_out || result.end.exit_code != 0) return std::nullopt;
    return std::move(result.stdout_text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The name of the root folder; of a linked working tree (git worktree), that of the main one.
std::string project_name(const fs::path& working_tree, double limit_s) {
  std::error_code error;
  if (fs::is_regular_file(working_tree / ".git", error)) {
    if (const auto folder = git(working_tree, {"rev-parse", "--path-format=absolute", "--git-common-dir"}, limit_s)) {
      const fs::path common = trim(*folder);
      return common.filename() == ".git" ? common.parent_path().filename().string() : common.stem().string();
    }
  }
  return working_tree.filename().string();
}

}  // namespace

SpawnOptions git_command(const fs::path& folder, const std::vector<std::string>& arguments) {
  SpawnOptions options;
  options.environment = {{"GIT_OPTIONAL_LOCKS", "0"}, {"TZ", "UTC"}};
  // Git sets these for the programs that it starts, such as hooks, and they would select another repository.
  options.command = {"env"};
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"})
    options.command.insert(options.command.end(), {"-u", name});
  options.command.insert(options.command.end(), {"git", "-c", "core.fsmonitor=false", "-C", folder.string()});
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  return options;
}

std::optional<fs::path> working_tree_of(const fs::path& path) {
  std::error_code error;
  fs::path folder = fs::absolute(path, error);
  if (error) return std::nullopt;
  for (;; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

std::optional<Commit> commit_of(const fs::path& working_tree, const GitLimits& limits) {
  if (!find_program("git")) return std::nullopt;
  const auto log = git(working_tree,
                       {"log", "-1", "--no-show-signature", "--no-color", "--no-decorate",
                        "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%H,%P,%cd"},
                       limits.answer_s);
  if (!log) return std::nullopt;
  const std::vector<std::string> fields = split(trim(*log), ',');
  if (fields.size() != 3) return std::nullopt;
  Commit commit{.project = project_name(working_tree, limits.answer_s),
                .hash = fields[0],
                .parents = fields[1],
                .committed_at = fields[2],
                .branch = {},
                .dirty = {}};
  if (const auto branch = git(working_tree, {"symbolic-ref", "--quiet", "--short", "HEAD"}, limits.answer_s))
    commit.branch = trim(*branch);
  if (const auto status = git(working_tree, {"status", "--porcelain", "--untracked-files=no"}, limits.status_s))
    commit.dirty = !status->empty();
  return commit;
}

std::vector<std::string> ordered_commits(const fs::path& working_tree, const std::vector<std::string>& hashes,
                                         double limit_s) {
  if (hashes.empty()) return {};
  std::vector<std::string> arguments{"rev-list", "--topo-order", "--reverse", "--ignore-missing"};
  arguments.insert(arguments.end(), hashes.begin(), hashes.end());
  const auto listed = git(working_tree, arguments, limit_s);
  if (!listed) return {};
  const std::set<std::string> wanted(hashes.begin(), hashes.end());
  std::vector<std::string> ordered;
  for (std::string& hash : split(*listed, '\n'))
    if (wanted.contains(hash)) ordered.push_back(std::move(hash));
  return ordered;
}

std::optional<Commit> project_commit(const fs::path& file) {
  auto working_tree = file.empty() ? std::nullopt : working_tree_of(file);
  std::error_code error;
  if (!working_tree) working_tree = working_tree_of(fs::current_path(error));
  return working_tree ? commit_of(*working_tree) : std::nullopt;
}

}  // namespace kymo
