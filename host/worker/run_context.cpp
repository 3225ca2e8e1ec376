// SPDX-License-Identifier: Apache-2.0
#include "worker/run_context.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "worker/reported_collective.hpp"

namespace kymo::worker {
namespace {

// Limits on the records of a workload per pass; further ones are counted as dropped records.
constexpr std::size_t kMaxMetrics = 200'000;
constexpr std::size_t kMaxMetricBytes = 1 << 20;  // of a text; readers reject more than 4 MiB as damage
constexpr std::size_t kMaxCompilations = 100'000;
constexpr std::size_t kMaxMarks = 100'000;
constexpr std::size_t kMaxTags = 1'000'000;
// cancelled() may be called in a tight loop: poll the connection at most this often.
constexpr std::int64_t kPollIntervalNs = 10'000'000;
// The payloads of all ranks and their sizes must fit into one frame.
constexpr std::uint64_t kMaxGatheredBytes = kMaxFrameBytes - (1u << 20);

kymo_value to_value(const measure::Value& value, std::uint32_t declared_type, const std::string& text) {
  kymo_value out{};
  if (const bool* flag = std::get_if<bool>(&value)) {
    out.type = KYMO_BOOL;
    out.boolean = *flag ? 1 : 0;
  } else if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) {
    out.type = KYMO_INT;
    out.integer = *whole;
  } else if (const double* real = std::get_if<double>(&value)) {
    out.type = KYMO_REAL;
    out.real = *real;
  } else {
    out.type = declared_type == KYMO_CHOICE ? KYMO_CHOICE : KYMO_TEXT;
    out.text = text.c_str();
  }
  if (declared_type == KYMO_REAL && out.type == KYMO_INT) {
    out.type = KYMO_REAL;
    out.real = static_cast<double>(out.integer);
  }
  return out;
}

std::optional<event::CompilationKind> compilation_kind(std::uint32_t number) {
  using enum event::CompilationKind;
  switch (number) {
    case KYMO_COMPILATION:
      return kCompilation;
    case KYMO_RECOMPILATION:
      return kRecompilation;
    case KYMO_BACKWARD_COMPILATION:
      return kBackward;
    case KYMO_RUNTIME_COMPILATION:
      return kRuntime;
    case KYMO_FAILED_COMPILATION:
      return kFailure;
    case KYMO_GRAPH_BREAK:
      return kGraphBreak;
    default:
      return std::nullopt;
  }
}

/// The i-th element of an array of structs that contain their own size.
const kymo_parameter& parameter_at(const kymo_workload& workload, std::uint32_t i) {
  const auto* first = reinterpret_cast<const char*>(workload.parameters);
  return *reinterpret_cast<const kymo_parameter*>(first + std::size_t{i} * workload.parameters->size);
}

}  // namespace

RunContext::RunContext(const measure::protocol::Assignment& assignment, const kymo_workload& workload,
                       PhaseRecorder& phases, ControlClient& control, std::int64_t run_start_ns)
    : rendezvous_host_(assignment.rendezvous_host),
      seed_(assignment.method.seed),
      phases_(phases),
      control_(control),
      run_start_ns_(run_start_ns),
      main_thread_(std::this_thread::get_id()) {
  const bool cuda = assignment.what.device == measure::DeviceKind::kCuda;
  placement_.size = sizeof(placement_);
  placement_.rank = assignment.rank;
  placement_.world_size = assignment.what.ranks;
  placement_.local_rank = assignment.local_rank;
  placement_.device = cuda ? KYMO_CUDA : KYMO_CPU;
  placement_.device_index = cuda ? assignment.device_index : 0;
  placement_.rendezvous_host = rendezvous_host_.c_str();
  placement_.rendezvous_port = assignment.rendezvous_port;
  placement_.on_meta = assignment.pass == measure::Pass::kPredict ? 1 : 0;
  bind_parameters(assignment, workload);
  if (!assignment.rank_file.empty()) open_status_page(assignment.rank_file);
  if (measure::records_events(assignment.pass)) {
    ranges_.emplace(run_start_ns);
    collectives_.emplace(run_start_ns);
  }
}

std::int64_t RunContext::step() const {
  const std::int64_t step = step_.load(std::memory_order_relaxed);
  return complete_steps_ && step >= 0 ? step + *complete_steps_ : step;
}

/// Failing to create the status page does not fail the run: the supervisor then uses the last progress message.
void RunContext::open_status_page(const std::string& rank_file) {
  try {
    phases_.publish_to(&status_page_.emplace(measure::status_file(rank_file), phases_.names()));
  } catch (const Error& error) {
    log::write(log::Level::kWarning, error.what());
  }
}

void RunContext::bind_parameters(const measure::protocol::Assignment& assignment, const kymo_workload& workload) {
  for (std::uint32_t i = 0; i < workload.parameter_count; ++i) {
    const kymo_parameter& declared = parameter_at(workload, i);
    const auto given = assignment.what.parameters.find(declared.name);
    if (given == assignment.what.parameters.end()) {
      values_[declared.name] = declared.default_value;
      continue;
    }
    std::string& text = texts_[declared.name];
    if (const std::string* held = std::get_if<std::string>(&given->second)) text = *held;
    values_[declared.name] = to_value(given->second, declared.type, text);
  }
}

kymo_status RunContext::parameter(const char* name, kymo_value* out) const {
  const auto found = values_.find(std::string_view(name ? name : ""));
  if (found == values_.end()) return KYMO_FAILED;
  *out = found->second;
  return KYMO_OK;
}

void RunContext::work(const char* phase, double flops, double bytes) {
  const auto& declared = phases_.names();
  const bool known = phase == std::string_view(event::kWholeStep) || contains(declared, phase);
  if (!known) {
    if (violation_.empty())
      violation_ = "work() refers to phase " + quote(phase) + ", which was not declared" + suggestion(phase, declared);
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(work_, phase, &event::Work::phase);
  event::Work& entry = found != work_.end() ? *found : work_.emplace_back(event::Work{phase, 0, 0});
  entry.flops += flops;
  entry.bytes += bytes;
}

void RunContext::operator_work(event::DeclaredOpWork declared) {
  const std::lock_guard lock(mutex_);
  declared_op_work_.push_back(std::move(declared));
}

void RunContext::metric(std::uint32_t level, event::Metric metric) {
  for (const std::string* text : {&metric.name, &metric.text, &metric.unit})
    if (text->size() > kMaxMetricBytes)
      throw Error("metric " + quote(metric.name.substr(0, 100)) + ": a text of " +
                  format_bytes(static_cast<std::int64_t>(text->size())) + " is longer than the limit of 1 MiB");
  const int open = phases_.open();
  metric.level = level == KYMO_PER_STEP    ? event::MetricLevel::kStep
                 : level == KYMO_PER_PHASE ? event::MetricLevel::kPhase
                                           : event::MetricLevel::kRun;
  if (metric.level != event::MetricLevel::kRun) metric.step = step();
  if (metric.level == event::MetricLevel::kPhase)
    metric.phase = open < 0 ? event::kOtherPhase : phases_.names()[static_cast<std::size_t>(open)];
  const std::lock_guard lock(mutex_);
  metrics_.add(std::move(metric), kMaxMetrics);
}

void RunContext::compilation(const kymo_compilation& given) {
  const auto kind = compilation_kind(given.kind);
  event::Compilation added;
  added.kind = kind.value_or(event::CompilationKind::kCompilation);
  added.step = given.step;
  added.program_step = given.program_step;
  added.start_ns = given.start_ns - run_start_ns_;
  added.duration_ns = given.duration_ns;
  if (given.inductor_ns >= 0) added.inductor_ns = given.inductor_ns;
  added.function = or_empty(given.function);
  added.file = or_empty(given.file);
  if (given.line > 0) added.line = given.line;
  added.reason = or_empty(given.reason);
  const std::lock_guard lock(mutex_);
  compilations_.add(std::move(added), kind ? kMaxCompilations : 0);
}

void RunContext::mark_at(const char* name, std::int64_t time_ns) {
  const std::lock_guard lock(mutex_);
  marks_.add({name, time_ns - run_start_ns_, step()}, kMaxMarks);
}

void RunContext::observe(std::vector<collect::Collector*> observers) {
  std::erase_if(observers, [](const collect::Collector* each) { return !each->wants_scopes(); });
  scope_observers_ = std::move(observers);
}

std::uint64_t RunContext::collective_begin(const kymo_collective* call) {
  if (status_page_) {
    const ReportedCollective begun = reported_collective(call);
    const bool is_known = begun.operation && begun.sequence;
    status_page_->begin_collective(is_known ? to_string(*begun.operation) : nullptr, begun.communicator,
                                   begun.sequence.value_or(0), begun.bytes);
  }
  return collectives_ ? collectives_->begin(call) : 0;
}

void RunContext::collective_end(std::uint64_t handle) {
  if (status_page_) status_page_->end_collective();
  if (collectives_) collectives_->end(handle);
}

void RunContext::collective_needed(std::uint64_t handle, const char* by) {
  if (collectives_) collectives_->needed(handle, by);
}

void RunContext::scope_begin(const char* name) {
  if (ranges_) ranges_->begin_scope(name);
  for (collect::Collector* observer : scope_observers_) observer->scope_begin(name);
}

void RunContext::scope_end() {
  for (collect::Collector* observer : scope_observers_) observer->scope_end();
  if (ranges_) ranges_->end_scope();
}

void RunContext::tag(const void* address, std::uint64_t bytes, std::uint32_t category) {
  const std::int64_t time_ns = now_ns() - run_start_ns_;
  const std::lock_guard lock(mutex_);
  tags_.add({time_ns, reinterpret_cast<std::uint64_t>(address), static_cast<std::int64_t>(bytes), category}, kMaxTags);
}

kymo_status RunContext::all_gather_bytes(const void* send, std::uint64_t bytes, void* receive) {
  const auto ranks = static_cast<std::uint64_t>(placement_.world_size);
  if (ranks <= 1) {
    std::memcpy(receive, send, bytes);
    return KYMO_OK;
  }
  if (bytes > kMaxGatheredBytes / ranks) {
    fail(("all_gather of " + format_bytes(static_cast<std::int64_t>(bytes)) + " on each of " + std::to_string(ranks) +
          " ranks is too large for the control connection, which carries at most " +
          format_bytes(static_cast<std::int64_t>(kMaxGatheredBytes)) + " in total")
             .c_str());
    return KYMO_FAILED;
  }
  const auto parts = control_.gather(std::string(static_cast<const char*>(send), bytes));
  if (!parts) {
    interrupted_ = true;
    cancelled_ = true;
    return KYMO_FAILED;
  }
  for (std::size_t rank = 0; rank < parts->size(); ++rank) {
    const std::string& part = (*parts)[rank];
    if (part.size() != bytes || parts->size() != ranks) {
      fail(("all_gather: rank " + std::to_string(rank) + " of " + std::to_string(parts->size()) + " sent " +
            std::to_string(part.size()) + " bytes, but this rank sent " + std::to_string(bytes))
               .c_str());
      return KYMO_FAILED;
    }
    std::memcpy(static_cast<char*>(receive) + rank * bytes, part.data(), bytes);
  }
  return KYMO_OK;
}

void RunContext::fail(const char* message) {
  // The first message is closest to the cause: wrappers may add their own after a service fails.
  if (reported_.message.empty() && message) reported_.message = message;
}

bool RunContext::cancelled() {
  if (cancelled_.load(std::memory_order_relaxed)) return true;
  if (std::this_thread::get_id() != main_thread_) return false;
  const std::int64_t now = now_ns();
  if (now < next_poll_ns_) return false;
  next_poll_ns_ = now + kPollIntervalNs;
  if (control_.cancelled()) cancelled_ = true;
  return cancelled_;
}

std::string RunContext::violation() const { return violation_.empty() ? phases_.violation() : violation_; }

void RunContext::keep_exception() noexcept {
  const std::lock_guard lock(mutex_);
  if (!kept_) kept_ = std::current_exception();
}

void RunContext::rethrow_kept() {
  const std::lock_guard lock(mutex_);
  if (kept_) std::rethrow_exception(std::exchange(kept_, nullptr));
}

void RunContext::add_new(std::vector<event::Metric>& metrics, std::vector<event::Compilation>& compilations,
                         event::NewEvents& events) {
  const std::lock_guard lock(mutex_);
  append_new(metrics, metrics_.records, metrics_.added);
  append_new(compilations, compilations_.records, compilations_.added);
  append_new(events.tags, tags_.records, tags_.added);
}

void RunContext::collect(event::PassRecord& record) {
  record.trace.phases = phases_.names();
  if (ranges_) ranges_->collect(record);
  if (collectives_) collectives_->collect(record);
  const std::lock_guard lock(mutex_);
  // Collectors may have added some.
  auto& tags = record.memory_trace.tags;
  tags.insert(tags.begin(), tags_.records.begin(), tags_.records.end());
  record.metrics.insert(record.metrics.begin(), metrics_.records.begin(), metrics_.records.end());
  record.marks.insert(record.marks.begin(), marks_.records.begin(), marks_.records.end());
  record.work = std::move(work_);
  record.declared_op_work = std::move(declared_op_work_);
  record.compilations = std::move(compilations_.records);
  add_dropped(record.dropped_records, "compilation", compilations_.dropped,
              "compilations of an unknown kind, or more than " + std::to_string(kMaxCompilations) + " in one pass");
  add_dropped(record.dropped_records, "metric", metrics_.dropped,
              "more than " + std::to_string(kMaxMetrics) + " metrics in one pass");
  add_dropped(record.dropped_records, "tag", tags_.dropped,
              "more than " + std::to_string(kMaxTags) + " tagged blocks in one pass");
  add_dropped(record.dropped_records, "mark", marks_.dropped,
              "more than " + std::to_string(kMaxMarks) + " marks in one pass");
}

}  // namespace kymo::worker
