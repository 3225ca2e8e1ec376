// SPDX-License-Identifier: Apache-2.0
#include "base/commit.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "unit/hang.hpp"

namespace kymo {
namespace {

namespace fs = std::filesystem;

constexpr GitLimits kNoLimit{.answer_s = kHang_s, .status_s = kHang_s};

/// A repository of its own, whose commits do not depend on the configuration of the user.
class Repository {
 public:
  Repository() {
    fs::create_directories(root() / "src");
    git({"init", "--quiet", "--initial-branch=trunk"});
  }

  fs::path root() const { return folder_.path() / "lab"; }

  std::string git(const std::vector<std::string>& arguments) const {
    SpawnOptions options;
    options.command = {"git", "-C", root().string(), "-c", "user.name=a", "-c", "user.email=a@b.c"};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    options.environment = {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_COMMITTER_DATE", "2026-02-03T04:05:06+02:00"}};
    const CommandResult result = run_command(options, kHang_s);
    EXPECT_EQ(result.end.exit_code, 0) << result.stderr_text;
    return trim(result.stdout_text);
  }

  std::string commit(const std::string& content) const {
    write_file(root() / "src" / "a.py", content);
    git({"add", "."});
    git({"commit", "--quiet", "-m", "a, commit"});
    return git({"rev-parse", "HEAD"});
  }

 private:
  PrivateFolder folder_{"kymo-commit"};
};

TEST(Commit, IsThatOfTheWorkingTreeOfTheFile) {
  const Repository repository;
  const std::string first = repository.commit("1");
  const std::string second = repository.commit("2");
  const auto working_tree = working_tree_of(repository.root() / "src" / "a.py");
  ASSERT_EQ(working_tree, repository.root());
  const auto commit = commit_of(*working_tree, kNoLimit);
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->project, "lab");
  EXPECT_EQ(commit->hash, second);
  EXPECT_EQ(commit->parents, first);
  EXPECT_EQ(commit->committed_at, "2026-02-03T02:05:06Z");
  EXPECT_EQ(commit->branch, "trunk");
}

TEST(Commit, KnowsChangedTrackedFilesAndDetachedHeads) {
  const Repository repository;
  const std::string hash = repository.commit("1");
  repository.git({"checkout", "--quiet", "--detach"});
  write_file(repository.root() / "untracked", "1");
  auto commit = commit_of(repository.root(), kNoLimit);
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->parents, "");
  EXPECT_FALSE(commit->branch);
  EXPECT_EQ(commit->dirty, false);
  write_file(repository.root() / "src" / "a.py", "other content");
  commit = commit_of(repository.root(), kNoLimit);
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->hash, hash);
  EXPECT_EQ(commit->dirty, true);
}

TEST(Commit, IsNotThatOfTheVariablesWhichGitSetsForHooks) {
  const Repository repository, other;
  const std::string hash = repository.commit("1");
  other.commit("other");
  setenv("GIT_DIR", (other.root() / ".git").c_str(), 1);
  const auto commit = commit_of(repository.root(), kNoLimit);
  unsetenv("GIT_DIR");
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->hash, hash);
}

TEST(Commit, OfALinkedWorkingTreeHasTheNameOfTheMainOne) {
  const Repository repository;
  repository.commit("1");
  const std::string second = repository.commit("2");
  const PrivateFolder folder("kymo-commit");
  const fs::path linked = folder.path() / "other";
  repository.git({"worktree", "add", "--quiet", "--detach", linked.string(), "HEAD~1"});
  const auto commit = commit_of(linked, kNoLimit);
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->project, "lab");
  EXPECT_NE(commit->hash, second);
}

TEST(Commit, AreOrderedByTheRepository) {
  const Repository repository;
  const std::string first = repository.commit("1"), second = repository.commit("2"), third = repository.commit("3");
  const std::string unknown(40, 'e');
  EXPECT_EQ(ordered_commits(repository.root(), {third, unknown, first}, kHang_s), (std::vector{first, third}));
  EXPECT_EQ(ordered_commits(repository.root(), {}, kHang_s), std::vector<std::string>{});
}

TEST(Commit, HasNoStateThatGitNeedsTooLongToTell) {
  const Repository repository;
  repository.commit("1");
  const auto commit = commit_of(repository.root(), {.answer_s = kHang_s, .status_s = 0});
  ASSERT_TRUE(commit);
  EXPECT_FALSE(commit->dirty);
}

TEST(Commit, IsEmptyWithoutACommitOrARepository) {
  const Repository repository;
  ASSERT_EQ(working_tree_of(repository.root() / "src"), repository.root());
  EXPECT_FALSE(commit_of(repository.root(), kNoLimit));
  const PrivateFolder folder("kymo-commit");
  EXPECT_FALSE(working_tree_of(folder.path()));
}

}  // namespace
}  // namespace kymo
