// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "event/records.hpp"
#include "measure/protocol.hpp"
#include "measure/status_page.hpp"
#include "worker/collective_recorder.hpp"
#include "worker/control_client.hpp"
#include "worker/failure.hpp"
#include "worker/phase_recorder.hpp"
#include "worker/range_recorder.hpp"

namespace kymo::worker {
class RunContext;
}

/// The context object passed to plugins.
struct kymo_context {
  kymo::worker::RunContext* run;
};

namespace kymo::worker {

/// State behind the host services for one pass of one run. Exists from before create() until after destroy().
class RunContext {
 public:
  RunContext(const measure::protocol::Assignment& assignment, const kymo_workload& workload, PhaseRecorder& phases,
             ControlClient& control, std::int64_t run_start_ns);
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  kymo_context* handle() { return &handle_; }

  // Services of kymo_host, with the same names.
  kymo_status parameter(const char* name, kymo_value* out) const;
  const kymo_placement& placement() const { return placement_; }
  std::uint64_t seed() const { return seed_; }
  PhaseRecorder& phases() { return phases_; }
  void work(const char* phase, double flops, double bytes);
  void operator_work(event::DeclaredOpWork declared);
  void metric(std::uint32_t level, event::Metric metric);
  void compilation(const kymo_compilation& given);
  void mark(const char* name) { mark_at(name, now_ns()); }
  /// time_ns on the host clock.
  void mark_at(const char* name, std::int64_t time_ns);
  void scope_begin(const char* name);
  void scope_end();
  std::uint64_t collective_begin(const kymo_collective* call);
  void collective_end(std::uint64_t handle);
  void collective_needed(std::uint64_t handle, const char* by);
  void tag(const void* address, std::uint64_t bytes, std::uint32_t category);
  kymo_status all_gather_bytes(const void* send, std::uint64_t bytes, void* receive);
  void skip(const char* reason) { reported_.skip_reason = reason; }
  void fail(const char* message);
  bool cancelled();

  // Interface for the engine.
  /// Status page that shows the supervisor what this worker does; nullptr if the supervisor did not request one.
  measure::StatusPage* status_page() { return status_page_ ? &*status_page_ : nullptr; }
  void set_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }
  /// The program counts the complete steps since set_step(), too.
  void count_steps(const std::uint32_t& complete) { complete_steps_ = &complete; }
  /// Records phases and scopes from now on, and notifies the `observers` that subscribe to scopes.
  void observe(std::vector<collect::Collector*> observers);
  /// nullptr in passes that observe no events.
  RangeRecorder* ranges() { return ranges_ ? &*ranges_ : nullptr; }
  const Reported& reported() const { return reported_; }
  /// The first violation of the API contract by the workload; empty if there was none.
  std::string violation() const;
  /// True if a gather ended because the run was cancelled.
  bool interrupted() const { return interrupted_; }
  /// Lets cancelled() return true from now on.
  void cancel() { cancelled_ = true; }
  /// Saves an exception of kymo itself that must not propagate through the plugin.
  void keep_exception() noexcept;
  /// Rethrows the saved exception, if any.
  void rethrow_kept();
  /// Adds the metrics, compilations and memory tags since the last call.
  void add_new(std::vector<event::Metric>& metrics, std::vector<event::Compilation>& compilations,
               event::NewEvents& events);
  /// Moves metrics, marks, work and the counts of dropped records into the record.
  void collect(event::PassRecord& record);

 private:
  template <class Record>
  struct Bounded {
    std::vector<Record> records;
    std::size_t added = 0;     // by add_new()
    std::int64_t dropped = 0;  // beyond the limit

    void add(Record record, std::size_t limit) {
      if (records.size() < limit)
        records.push_back(std::move(record));
      else
        ++dropped;
    }
  };

  std::int64_t step() const;
  void open_status_page(const std::string& rank_file);
  void bind_parameters(const measure::protocol::Assignment& assignment, const kymo_workload& workload);

  kymo_context handle_{this};
  kymo_placement placement_{};
  std::string rendezvous_host_;
  std::uint64_t seed_;
  std::map<std::string, std::string> texts_;  // owns the texts that values point to
  std::map<std::string, kymo_value, std::less<>> values_;
  PhaseRecorder& phases_;
  ControlClient& control_;
  std::int64_t run_start_ns_;
  std::thread::id main_thread_;
  std::atomic<std::int64_t> step_{-1};
  const std::uint32_t* complete_steps_ = nullptr;
  std::atomic<bool> cancelled_{false};
  std::int64_t next_poll_ns_ = 0;  // main thread
  std::optional<RangeRecorder> ranges_;
  std::optional<CollectiveRecorder> collectives_;
  std::optional<measure::StatusPage> status_page_;
  std::vector<collect::Collector*> scope_observers_;
  bool interrupted_ = false;
  Reported reported_;
  std::string violation_;

  std::mutex mutex_;  // protects the members below, which any thread may write
  std::exception_ptr kept_;
  Bounded<event::Metric> metrics_;
  Bounded<event::Compilation> compilations_;
  Bounded<event::Mark> marks_;
  std::vector<event::Work> work_;
  std::vector<event::DeclaredOpWork> declared_op_work_;
  Bounded<event::BlockTag> tags_;
};

/// The service table for a pass, valid for the lifetime of the process; its contexts are RunContexts. Services that a
/// pass does not need are NULL: scopes, tags and collectives outside observed passes; phases and work outside timed
/// steps.
const kymo_host& services_for(measure::Pass pass);

}  // namespace kymo::worker
