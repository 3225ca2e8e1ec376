// SPDX-License-Identifier: Apache-2.0
#include "worker/observed_steps.hpp"

#include "base/clock.hpp"
#include "collect/reading_interval.hpp"
#include "store/step_journal.hpp"

namespace kymo::worker {
namespace {

// The time between two steps of a program is the program's: readings of devices and allocators take at most 0.2 % of
// it, those of /proc 0.05 %.
constexpr std::int64_t kReadingShare = 500;
constexpr std::int64_t kSchedulingShare = 2000;

// The engine processes recorded steps at once that took so long together, but the first steps one by one.
constexpr std::int64_t kRecordedNs = 50'000'000;

}  // namespace

ObservedSteps::ObservedSteps(const measure::protocol::Assignment& assignment, WorkloadInstance& workload,
                             PassProgress& progress, const ArmedCollectors& collectors, store::StepJournal* journal,
                             kymo_step_records* step_records)
    : StepDriver(assignment, workload, progress, collectors), journal_(journal) {
  progress_.spare_system_calls();
  if (step_records && is_time_pass_) {
    records_.emplace(*step_records, workload_.phases().names().size(), journal_, workload_.context().status_page());
    workload_.context().count_steps(step_records->count);
  }
}

void ObservedSteps::configure(collect::PassSetting& setting) const {
  setting.times_steps = false;
  setting.adds_new_events = true;
  setting.reading_share = kReadingShare;
}

void ObservedSteps::begin() {
  if (journal_) journal_->set_phases(workload_.phases().names());
  workload_.phases().observe(collectors_.all, nullptr, workload_.context().ranges());
}

std::int64_t ObservedSteps::scheduling_share() const { return kSchedulingShare; }

kymo_status ObservedSteps::call() {
  const kymo_status status = workload_.step();
  ended_ = status == kProgramEnded;
  return status;
}

bool ObservedSteps::run(const NextSteps& next, StepLog& log) {
  return records_ ? run_recorded(next, log) : StepDriver::run(next, log);
}

bool ObservedSteps::run_recorded(const NextSteps& next, StepLog& log) {
  // A program waits for the system call, and kymo does little between its steps.
  const ProcessUsage before = next.disturbed ? process_usage() : used_;
  interval_ = {};
  records_->prepare(next.first, next.first < collect::kFirstSteps ? 1 : next.limit, next.warmup,
                    now_ns() + kRecordedNs);
  const kymo_status status = call();
  used_ = process_usage();
  interval_.usage = used_ - before;
  // The usage of a step that is not complete is not that of the others.
  if (status == KYMO_OK) records_->set_usage(interval_.usage);
  if (!keep_recorded(log) || ended_) return false;
  workload_.context().rethrow_kept();
  return progress_.check_call(status);
}

bool ObservedSteps::keep_recorded(StepLog& log) {
  for (std::int64_t i = 0; i < records_->count(); ++i) {
    const event::StepTime& time = records_->time(i);
    if (!progress_.check_clock(time.end_ns - time.begin_ns)) return false;
    log.add(time, records_->phases(i));
    interval_.elapsed_ns += time.end_ns - time.begin_ns;
    interval_.end_ns = time.end_ns;
  }
  records_->keep();
  return true;
}

void ObservedSteps::journalize(const StepLog& log) {
  if (!journal_) return;
  new_events_.clear();
  // The ranges that operators refer to began before them.
  for (collect::Collector* collector : collectors_.all) collector->add_new_events(new_events_);
  RunContext& context = workload_.context();
  if (RangeRecorder* const ranges = context.ranges()) ranges->add_new(new_events_);
  for (const auto& [number, call] : new_events_.operators)
    library_work_.add(new_events_.texts, call, new_events_.library_op_work);
  std::vector<event::Metric> metrics;
  std::vector<event::Compilation> compilations;
  context.add_new(metrics, compilations, new_events_);
  journal_->add(compilations);
  journal_->add(metrics);
  journal_->add(new_events_);
  if (!records_) journal_->add(log.steps().back(), workload_.phases().times());
}

}  // namespace kymo::worker
