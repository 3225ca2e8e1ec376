// SPDX-License-Identifier: Apache-2.0
#include "plan/peer.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::plan {
namespace {

bool is_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals != text.npos && equals > 0 &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

std::string key_of(const PlannedCase& planned) {
  return measure::equivalence_key(planned.run, measure::Equivalence::kPlan);
}

CaseSpec spec_of_peer(const PlannedCase& planned, const Peer& peer, const catalog::Workload& workload) {
  CaseSpec spec;
  spec.workload = peer.workload;
  spec.set = peer.set;
  for (const catalog::Parameter& parameter : workload.parameters) {
    const auto shared = planned.run.what.parameters.find(parameter.name);
    const bool fixed =
        std::ranges::any_of(peer.set, [&](const auto& setting) { return setting.first == parameter.name; });
    if (shared != planned.run.what.parameters.end() && !fixed)
      spec.set.emplace_back(parameter.name, measure::to_text(shared->second));
  }
  spec.ranks = {planned.run.what.ranks};
  spec.device = planned.run.what.device == measure::DeviceKind::kCuda ? DeviceChoice::kCuda : DeviceChoice::kCpu;
  spec.method = planned.run.method;
  spec.repeat = planned.repeat;
  return spec;
}

}  // namespace

Peer peer_from(const std::string& text, const std::string& option) {
  Peer peer;
  std::size_t colon = text.find(':');
  // FILE.so:NAME itself contains a colon: the parameters start after the first colon that is followed by a setting.
  while (colon != text.npos && !is_setting(text.substr(colon + 1))) colon = text.find(':', colon + 1);
  peer.workload = text.substr(0, colon);
  if (trim(peer.workload).empty() || peer.workload.ends_with(':'))
    throw UsageError(option + " takes WORKLOAD or WORKLOAD:parameter=value,parameter=value, not " + quote(text));
  if (colon == text.npos) return peer;
  for (const std::string& setting : split(text.substr(colon + 1), ','))
    peer.set.push_back(name_and_value(option, setting));
  return peer;
}

InterleavedCases with_peer(std::vector<PlannedCase> cases, const Peer& peer, const catalog::Found& found,
                           const std::function<Gpus()>& gpus, MissingDevice missing) {
  std::set<std::string> planned_keys;
  for (const PlannedCase& planned : cases) planned_keys.insert(key_of(planned));
  InterleavedCases interleaved;
  for (PlannedCase& planned : cases) {
    const CaseSpec spec = spec_of_peer(planned, peer, *found.workload);
    PlannedCase beside = expand(spec, *found.plugin, *found.workload, gpus, missing).at(0);
    beside.run.label = planned.run.label;
    if (beside.run.skip_reason.empty()) beside.run.skip_reason = planned.run.skip_reason;
    const Pair pair{key_of(planned), key_of(beside)};
    interleaved.cases.push_back(std::move(planned));
    if (pair.of_case == pair.of_peer) continue;
    interleaved.pairs.push_back(pair);
    if (planned_keys.insert(pair.of_peer).second) interleaved.cases.push_back(std::move(beside));
  }
  if (interleaved.pairs.empty())
    throw UsageError("--against " + quote(peer.workload) +
                     " is identical to the case itself; pass another workload or other parameters");
  return interleaved;
}

}  // namespace kymo::plan
