// SPDX-License-Identifier: Apache-2.0
#include "supervisor/follower_protocol.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace kymo::supervisor::follower_protocol {
namespace {

constexpr std::size_t kDigestDigits = 16;

std::string called(const std::string& file, const std::string& sha256, int rank) {
  return "rank " + std::to_string(rank) + " has " + quote(file) + " with sha256 " + sha256.substr(0, kDigestDigits);
}

std::string library_called(const Plan::Plugin& plugin, const std::string& name, int rank) {
  const auto found = plugin.libraries.find(name);
  const std::string library = (std::filesystem::path(plugin.file).parent_path() / name).string();
  if (found == plugin.libraries.end()) return "rank " + std::to_string(rank) + " does not load " + quote(library);
  return called(library, found->second, rank);
}

/// Describes how the same plugin differs between rank 0 and another rank; empty if it does not.
std::string plugin_difference(const Plan::Plugin& ours, const Plan::Plugin& theirs, int rank) {
  static constexpr const char* kRight = "; install the same files on every machine";
  if (ours.sha256 != theirs.sha256) {
    return "the plugin " + quote(ours.name) + " is not the same on all ranks: " + called(ours.file, ours.sha256, 0) +
           ", " + called(theirs.file, theirs.sha256, rank) + kRight;
  }
  auto all = ours.libraries;
  all.insert(theirs.libraries.begin(), theirs.libraries.end());
  for (const auto& [name, hash] : all) {
    if (ours.libraries.contains(name) && theirs.libraries.contains(name) &&
        ours.libraries.at(name) == theirs.libraries.at(name))
      continue;
    return "the library " + quote(name) + " of the plugin " + quote(ours.name) +
           " is not the same on all ranks: " + library_called(ours, name, 0) + ", " +
           library_called(theirs, name, rank) + kRight;
  }
  return "";
}

}  // namespace

Plan plan_of(const std::vector<PlannedRun>& runs) {
  Plan plan;
  for (const auto& run : runs) {
    const Plan::Plugin plugin{run.plugin.name, run.what.plugin_file, run.what.plugin_sha256, run.what.plugin_libraries};
    const auto found = std::find(plan.plugins.begin(), plan.plugins.end(), plugin);
    plan.plugin_of_run.push_back(static_cast<std::size_t>(found - plan.plugins.begin()));
    if (found == plan.plugins.end()) plan.plugins.push_back(plugin);
    plan.digests.push_back(measure::equivalence_key(run, measure::Equivalence::kJob));
  }
  return plan;
}

std::string difference(const Plan& leader, const Plan& follower, int rank) {
  static constexpr const char* kRight = "; every rank must use the same command line, plugins, suites and device kind";
  const std::string them = "rank " + std::to_string(rank);
  if (leader.digests.size() != follower.digests.size()) {
    return "rank 0 plans " + std::to_string(leader.digests.size()) + " runs but " + them + " plans " +
           std::to_string(follower.digests.size()) + kRight;
  }
  for (std::size_t run = 0; run < leader.digests.size(); ++run) {
    const auto& ours = leader.plugins.at(leader.plugin_of_run[run]);
    const auto& theirs = follower.plugins.at(follower.plugin_of_run[run]);
    if (const std::string reason = plugin_difference(ours, theirs, rank); !reason.empty()) return reason;
    if (leader.digests[run] != follower.digests[run])
      return "rank 0 and " + them + " disagree about run " + std::to_string(run + 1) + kRight;
  }
  return "";
}

Json plain_message(const char* type) { return {{"type", type}}; }

void Plan::check() const {
  const bool in_range = std::all_of(plugin_of_run.begin(), plugin_of_run.end(),
                                    [this](std::size_t index) { return index < plugins.size(); });
  if (!in_range || plugin_of_run.size() != digests.size())
    throw Error("a plan refers to a plugin that it does not contain");
}

void WorkerOutput::check() const {
  if (file_bytes < -1) throw Error("a file of " + std::to_string(file_bytes) + " bytes was announced");
}

}  // namespace kymo::supervisor::follower_protocol
