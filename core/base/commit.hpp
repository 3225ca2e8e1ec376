// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace kymo {

/// The commit that is checked out in a git repository.
struct Commit {
  std::string project;                ///< name of the root folder of the main working tree
  std::string hash;                   ///< full
  std::string parents;                ///< full hashes, separated by spaces; empty for the first commit
  std::string committed_at;           ///< time of the commit in UTC, ISO 8601
  std::optional<std::string> branch;  ///< empty if HEAD is detached
  std::optional<bool> dirty;  ///< whether tracked files differ from the commit; empty if git needs too long to tell
};

/// How long to wait for git, in seconds.
struct GitLimits {
  double answer_s = 1;     ///< for what git reads from a few files
  double status_s = 0.25;  ///< for its look at every tracked file, which takes seconds in a large repository
};

/// A git command in a folder, whatever repository the variables of a git hook select. It starts no file system monitor,
/// a command that the configuration of the repository may name, and takes no locks that it can do without.
SpawnOptions git_command(const std::filesystem::path& folder, const std::vector<std::string>& arguments);

/// The root of the git working tree that contains a file or folder; empty if there is none. Does not run git.
std::optional<std::filesystem::path> working_tree_of(const std::filesystem::path& path);

/// The commit of a working tree, as git reports it; empty if git is missing, rejects the repository (safe.directory) or
/// does not answer in time, or if there is no commit. Git writes nothing.
std::optional<Commit> commit_of(const std::filesystem::path& working_tree, const GitLimits& limits = {});

/// The given commits, oldest first, none before its parents, as the working tree's repository orders them. Leaves out
/// those that it does not contain, and all of them if git fails or needs longer than `limit_s`.
std::vector<std::string> ordered_commits(const std::filesystem::path& working_tree,
                                         const std::vector<std::string>& hashes, double limit_s = 10);

/// The commit of the project that a workload or program belongs to: that of the working tree that contains `file`, else
/// that of the current directory.
std::optional<Commit> project_commit(const std::filesystem::path& file);

}  // namespace kymo
