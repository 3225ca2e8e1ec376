// SPDX-License-Identifier: Apache-2.0
#include "worker/session.hpp"

#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/machine.hpp"
#include "store/step_journal.hpp"
#include "worker/engine.hpp"
#include "worker/failure.hpp"
#include "worker/freed_memory.hpp"

namespace kymo::worker {

using measure::Outcome;
using measure::RunStatus;
using measure::protocol::Assignment;
using measure::protocol::Progress;

void Session::serve() {
  while (const auto assignment = control_.next_assignment()) {
    execute(*assignment);
    // While this worker is idle, other workers may need the memory.
    for (const Observer& observer : used_.all) observer.collector->reset();
    return_freed_memory();
  }
}

void Session::serve_one() {
  if (const auto assignment = control_.next_assignment()) execute(*assignment);
}

void Session::execute(const Assignment& assignment) {
  Outcome outcome;
  try {
    Assignment own = assignment;
    own.method = measure::method_in(own.method, own.pass);
    outcome = run_assignment(own);
  } catch (const ConnectionLost&) {
    throw;
  } catch (const std::exception& error) {
    outcome = {.status = RunStatus::kFailed, .detail = first_line(error.what()), .stage = "load"};
  }
  environment_.flush_output();  // the output belongs to this assignment
  control_.send(outcome);
}

PassStart Session::begin_run() {
  const std::int64_t assigned_ns = now_ns();
  const std::int64_t start_ns = is_new_ ? process_start_ns_ : assigned_ns;
  is_new_ = false;
  return {start_ns, {{"worker: assigned", assigned_ns}}};
}

Outcome Session::run_assignment(const Assignment& assignment) {
  PassStart start = begin_run();
  control_.send(Progress{"load"});
  reset_peak_resident();
  const kymo_plugin& plugin = environment_.plugin(assignment);
  start.stages.push_back({"worker: plugin loaded", now_ns()});
  const bool uses_torch = plugin.framework && std::string_view(plugin.framework) == "libtorch";
  used_ = environment_.observers(assignment.pass, assignment.what.device, uses_torch);
  const auto journal = journal_of(assignment, start.run_start_ns);
  start.journal = journal.get();
  start.step_records = step_records_;
  auto [outcome, record] = run_pass(assignment, plugin, used_, control_, start);
  add_device(assignment, record);
  control_.send(Progress{"write"});
  try {
    environment_.store(assignment, record);
    if (journal) journal->remove();
  } catch (const std::exception& error) {
    if (outcome.status == RunStatus::kOk)
      outcome = {.status = RunStatus::kFailed,
                 .detail = first_line(error.what()),
                 .verification = outcome.verification,
                 .stage = "write"};
  }
  const bool compared = outcome.status == RunStatus::kFailed && outcome.failed_ns >= 0 && assignment.what.ranks > 1;
  outcome.failed_ns = compared ? to_supervisor_clock(control_, outcome.failed_ns).value_or(-1) : -1;
  return outcome;
}

std::unique_ptr<store::StepJournal> Session::journal_of(const Assignment& assignment, std::int64_t run_start_ns) {
  if (!step_records_ || assignment.rank_file.empty()) return nullptr;
  const measure::Method& method = assignment.method;
  event::PassRecord record;
  add_device(assignment, record);
  store::JournalHeader header{
      .warmup = method.warmup, .run_start_ns = run_start_ns, .steps = std::nullopt, .device = record.device};
  if (method.steps < measure::kMaxFreeSteps) header.steps = method.steps;
  try {
    return std::make_unique<store::StepJournal>(assignment.rank_file, header);
  } catch (const Error& error) {
    log::warning(error.what());  // the pass is only at risk if the program is killed
    return nullptr;
  }
}

void Session::add_device(const Assignment& assignment, event::PassRecord& record) {
  if (assignment.pass == measure::Pass::kPredict) return;  // the device need not exist
  const bool cuda = assignment.what.device == measure::DeviceKind::kCuda;
  try {
    record.device = environment_.device(assignment.what.device, cuda ? assignment.device_index : 0);
  } catch (const collect::Unavailable& reason) {
    record.dropped_records.push_back({"device", -1, first_line(reason.what())});
  }
}

}  // namespace kymo::worker
