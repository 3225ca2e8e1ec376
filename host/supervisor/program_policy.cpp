// SPDX-License-Identifier: Apache-2.0
#include "supervisor/program_policy.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "store/rank_file.hpp"
#include "supervisor/program.hpp"

namespace kymo::supervisor {
namespace {

constexpr double kForever_s = 1e12;

/// The warning about processes that became ranks after others that were observed.
event::Warning late_ranks_warning(int ranks) {
  return {"unobserved ranks", std::to_string(ranks) + (ranks == 1 ? " process that" : " processes that") +
                                  " made a process group later " + (ranks == 1 ? "was" : "were") +
                                  " not observed: the program starts its ranks several times"};
}

}  // namespace

void ProgramPolicy::adapt(PassLimits& limits, protocol::Assignment& assignment) const {
  limits.report_grace_s = limits.settle_s = limits.clear_up_s = kForever_s;
  assignment.method = method_of_program(run_.program, run_.method, assignment.pass);
}

std::unique_ptr<RankProcess> ProgramPolicy::process_of(int rank) {
  return rank > 0 ? std::make_unique<RankOfProgram>(*program_, rank) : nullptr;
}

bool ProgramPolicy::admits(PassExecution& execution, const protocol::Hello& hello) {
  return execution.admits(hello, [this](int rank) { return process_of(rank); });
}

Outcome ProgramPolicy::verdict(const PassState& result, WorkerTeam& team) const {
  workers_.wait_for_end(team);
  const auto end = team.process(0).poll_end();
  bool connected = false;
  for (int rank = 0; rank < team.count(); ++rank) connected = connected || team.is_connected(rank);
  const Outcome& verdict = result.verdict();
  const pid_t pid = verdict.rank ? team.process(*verdict.rank).worker_pid() : -1;
  return outcome_of_program(verdict, end ? end->end : ProcessEnd{}, connected, log_file_, run_.program.processes, pid);
}

void ProgramPolicy::add_results(PassExecution& execution, ExecutedRun& executed) const {
  const auto& [run_id, pass] = execution.identity();
  if (execution.has_found_ranks()) executed.ranks = execution.team().count();
  std::vector<event::Warning> warnings;
  if (execution.late_ranks() > 0) warnings.push_back(late_ranks_warning(execution.late_ranks()));
  if (auto warning = unobserved_processes_warning(log_file_, run_.program.processes)) warnings.push_back(*warning);
  try {
    for (const auto& [rank, metrics] : logged_metrics(log_file_))
      store::add_metrics(scratch_.rank_file(run_id, rank, pass), run_id, rank, pass, metrics);
    for (const event::Warning& warning : warnings)
      for (int rank = 0; rank < execution.team().count(); ++rank)
        store::add_warning(scratch_.rank_file(run_id, rank, pass), run_id, rank, pass, warning);
  } catch (const Error& error) {
    log::warning(std::string("results of the program were not stored: ") + error.what());
  }
}

}  // namespace kymo::supervisor
