// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "descriptor.hpp"
#include "region.hpp"

namespace kymo {

/// Thrown by Context::skip. It does not derive from std::exception, so that a workload's own handlers do not catch it.
struct Skipped {};

/// The scope that a metric applies to: the run, the current step, or the current phase.
enum class Per : std::uint32_t { Run = KYMO_PER_RUN, Step = KYMO_PER_STEP, Phase = KYMO_PER_PHASE };

enum class Level : std::uint32_t {
  Debug = KYMO_LOG_DEBUG,
  Info = KYMO_LOG_INFO,
  Warning = KYMO_LOG_WARNING,
  Error = KYMO_LOG_ERROR
};

/// Memory block category: Parameter, Gradient, OptimizerState and the others of KYMO_MEMORY_CATEGORIES.
#define KYMO_MEMORY_CATEGORY(NAME, Name, ...) Name = KYMO_##NAME,
enum class Block : std::uint32_t { KYMO_MEMORY_CATEGORIES(KYMO_MEMORY_CATEGORY) };
#undef KYMO_MEMORY_CATEGORY

/// Address of the rendezvous server for the ranks of a run. The port is 0 for a single rank.
struct Rendezvous {
  std::string host;
  std::uint16_t port = 0;
};

/// The host interface of a workload: parameters, rank, device, and reporting functions. It holds two pointers. Copies
/// are valid until the workload is destroyed. Call a function only from the workload thread unless it is documented for
/// any thread.
class Context {
 public:
  Context(const kymo_host* host, kymo_context* context) : host_(host), context_(context) {}

  /// Returns the value of a declared parameter. Throws std::invalid_argument if no parameter of that name and type
  /// exists. Workload thread only.
  std::int64_t integer(const char* name) const { return value(name, KYMO_INT).integer; }
  double real(const char* name) const { return value(name, KYMO_REAL).real; }
  bool boolean(const char* name) const { return value(name, KYMO_BOOL).boolean != 0; }
  /// Also returns the value of a Choice.
  std::string text(const char* name) const { return value(name, KYMO_TEXT).text; }

  /// Placement of this process. Any thread.
  Device device() const { return static_cast<Device>(placement().device); }
  bool is_cuda() const { return placement().device == KYMO_CUDA; }
  /// True if the step is not computed but its memory is predicted: create tensors on LibTorch's device meta, as
  /// libtorch::select_device() does, and read none of their values.
  bool on_meta() const {
    return placement().size >= offsetof(kymo_placement, on_meta) + sizeof(kymo_placement::on_meta) &&
           placement().on_meta != 0;
  }
  int device_index() const { return placement().device_index; }
  int rank() const { return placement().rank; }
  int local_rank() const { return placement().local_rank; }
  int world_size() const { return placement().world_size; }
  Rendezvous rendezvous() const {
    return {placement().rendezvous_host ? placement().rendezvous_host : "",
            static_cast<std::uint16_t>(placement().rendezvous_port)};
  }
  /// Random seed of the run, identical on all ranks. Any thread.
  std::uint64_t seed() const { return host_->seed ? host_->seed(context_) : 0; }

  /// Begins a phase of the step. The phase ends when the returned object is destroyed. `stream` is the cudaStream_t
  /// that its work is queued on. Only in step(), workload thread only.
  [[nodiscard]] Phase phase(const char* name, void* stream = nullptr) const { return {host_, context_, name, stream}; }
  /// Begins a phase that interrupts the open phase `outer` until the returned object is destroyed. Workload thread, or
  /// a thread that it waits for.
  [[nodiscard]] InnerPhase inner_phase(const char* name, const char* outer, void* stream = nullptr) const {
    return {host_, context_, name, outer, stream};
  }
  /// Begins a named region inside a phase. The region ends when the returned object is destroyed. Any thread.
  [[nodiscard]] Scope scope(const char* name) const noexcept { return {host_, context_, name}; }
  [[nodiscard]] Scope scope(const std::string& name) const noexcept { return scope(name.c_str()); }
  /// Reports a call of the only communicator. The call lasts until the returned object is destroyed or ended: when the
  /// work is queued if `stream` is given, otherwise when the work is complete. Pass queued_on() of the work's stream.
  /// Workload thread only, in the same order on all ranks.
  [[nodiscard]] Collective collective(Operation operation, std::uint64_t bytes, void* stream = nullptr) const noexcept {
    return {host_, context_, operation, bytes, stream};
  }
  /// Reports a call of one of several communicators, or with a call index set by the caller. Any thread.
  [[nodiscard]] Collective collective(const CollectiveCall& call) const noexcept { return {host_, context_, call}; }

  /// Declares the floating-point operations and the bytes of memory traffic of one phase on this rank, per step. 0
  /// means not declared. Bytes that ranks send to each other are no memory traffic. Only in prepare().
  void work(const char* phase, double flops, double bytes) const {
    if (host_->work) host_->work(context_, phase, flops, bytes);
  }
  /// Declares the floating-point operations and the bytes of memory traffic of one call of a framework's operator, such
  /// as `mylib::scale`, for operators that kymo has no rule for: of all calls, or of those with these arguments, which
  /// are written as in table op (`f32[4, 256] f32[256]`). Only in prepare().
  void operator_work(const char* name, double flops, double bytes, const char* arguments = "") const {
    if (host_->operator_work) host_->operator_work(context_, name, arguments, flops, bytes);
  }
  /// Records a workload-defined metric. Any thread.
  void metric(const char* name, double value, const char* unit = "", Per per = Per::Run) const {
    if (host_->metric_number) host_->metric_number(context_, static_cast<std::uint32_t>(per), name, value, unit);
  }
  void metric(const char* name, const char* value, Per per = Per::Run) const {
    if (host_->metric_text) host_->metric_text(context_, static_cast<std::uint32_t>(per), name, value);
  }
  void metric(const char* name, const std::string& value, Per per = Per::Run) const {
    metric(name, value.c_str(), per);
  }
  /// Marks the current time on the memory timeline. Any thread.
  void mark(const char* name) const {
    if (host_->mark) host_->mark(context_, name);
  }
  /// Sets the category of the memory block at `address`. Any thread.
  void tag(const void* address, std::uint64_t bytes, Block what) const {
    if (host_->tag) host_->tag(context_, address, bytes, static_cast<std::uint32_t>(what));
  }
  /// Writes a line to the log of the run. Any thread.
  void log(Level level, const std::string& message) const {
    if (host_->log) host_->log(context_, static_cast<std::uint32_t>(level), message.c_str());
  }
  void log(const std::string& message) const { log(Level::Info, message); }

  /// Ends the run as `skipped` because the case is not applicable. Workload thread only, outside of phases.
  [[noreturn]] void skip(const std::string& reason) const {
    if (host_->skip) host_->skip(context_, reason.c_str());
    throw Skipped{};
  }
  /// Returns true if the run is being cancelled; the workload should then return promptly. Any thread.
  bool cancelled() const { return host_->cancelled && host_->cancelled(context_) != 0; }

  /// Gathers one value from each rank, in rank order. Every rank must call it. Do not call it in timed code. Throws
  /// std::runtime_error if another rank cannot be reached.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> all_gather(const T& mine) const {
    std::vector<T> all(static_cast<std::size_t>(world_size()), mine);
    gather_bytes(&mine, sizeof(T), all.data());
    return all;
  }
  /// Concatenates the vectors of all ranks in rank order. All vectors must have the same length.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> all_gather(const std::vector<T>& mine) const {
    std::vector<T> all(mine.size() * static_cast<std::size_t>(world_size()));
    gather_bytes(mine.data(), mine.size() * sizeof(T), all.data());
    return all;
  }

  /// The underlying C interface, for bindings such as those for LibTorch.
  const kymo_host* host() const { return host_; }
  kymo_context* handle() const { return context_; }

 private:
  const kymo_placement& placement() const { return *host_->placement(context_); }

  kymo_value value(const char* name, std::uint32_t type) const {
    kymo_value found{};
    if (!host_->parameter || host_->parameter(context_, name, &found) != KYMO_OK) {
      throw std::invalid_argument("no parameter '" + std::string(name) + "': declare it in describe()");
    }
    if (found.type != type && !(type == KYMO_TEXT && found.type == KYMO_CHOICE)) {
      throw std::invalid_argument("parameter '" + std::string(name) +
                                  "' has another type: read it as it was declared in describe()");
    }
    return found;
  }

  void gather_bytes(const void* mine, std::uint64_t bytes, void* all) const {
    if (world_size() == 1) {
      if (bytes > 0) std::memcpy(all, mine, bytes);
      return;
    }
    if (!host_->all_gather_bytes || host_->all_gather_bytes(context_, mine, bytes, all) != KYMO_OK) {
      throw std::runtime_error("all_gather failed: another rank ended or sent data of a different size");
    }
  }

  const kymo_host* host_;
  kymo_context* context_;
};

}  // namespace kymo
