// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "descriptor.hpp"
#include "region.hpp"

namespace kymo {

/// Thrown by Context::skip; not a std::exception, so that a workload's own handlers let it pass.
struct Skipped {};

/// What a metric is about: the run, the current step, or the current phase.
enum class Per : std::uint32_t { Run = KYMO_PER_RUN, Step = KYMO_PER_STEP, Phase = KYMO_PER_PHASE };

enum class Level : std::uint32_t {
  Debug = KYMO_LOG_DEBUG,
  Info = KYMO_LOG_INFO,
  Warning = KYMO_LOG_WARNING,
  Error = KYMO_LOG_ERROR
};

/// What a memory block holds.
enum class Block : std::uint32_t {
  Parameter = KYMO_PARAMETER,
  Gradient = KYMO_GRADIENT,
  OptimizerState = KYMO_OPTIMIZER_STATE,
  Activation = KYMO_ACTIVATION,
  Workspace = KYMO_WORKSPACE,
  Input = KYMO_INPUT,
};

/// Where the ranks of a run meet; the port is 0 when there is one rank.
struct Rendezvous {
  std::string host;
  std::uint16_t port = 0;
};

/// The host as a workload sees it: its parameters, its place in the run, and where it reports to.
/// Two pointers: a copy may be kept until the workload is destroyed, and used from any thread where a function says so.
class Context {
 public:
  Context(const kymo_host* host, kymo_context* context) : host_(host), context_(context) {}

  /// The value of a declared parameter. Throw std::invalid_argument if there is none of that name and type. One thread.
  std::int64_t integer(const char* name) const { return value(name, KYMO_INT).integer; }
  double real(const char* name) const { return value(name, KYMO_REAL).real; }
  bool boolean(const char* name) const { return value(name, KYMO_BOOL).boolean != 0; }
  /// Also for Choice.
  std::string text(const char* name) const { return value(name, KYMO_TEXT).text; }

  /// Any thread.
  Device device() const { return static_cast<Device>(placement().device); }
  bool is_cuda() const { return placement().device == KYMO_CUDA; }
  int device_index() const { return placement().device_index; }
  int rank() const { return placement().rank; }
  int local_rank() const { return placement().local_rank; }
  int world_size() const { return placement().world_size; }
  Rendezvous rendezvous() const {
    return {placement().rendezvous_host ? placement().rendezvous_host : "",
            static_cast<std::uint16_t>(placement().rendezvous_port)};
  }
  /// The same on every rank.
  std::uint64_t seed() const { return host_->seed ? host_->seed(context_) : 0; }

  /// Begins a phase of the step, which ends with the returned object; `stream` is the cudaStream_t its work is queued
  /// on. In step(), one thread.
  [[nodiscard]] Phase phase(const char* name, void* stream = nullptr) const { return {host_, context_, name, stream}; }
  /// Begins a named region inside a phase, which ends with the returned object. Any thread.
  [[nodiscard]] Scope scope(const char* name) const noexcept { return {host_, context_, name}; }
  [[nodiscard]] Scope scope(const std::string& name) const noexcept { return scope(name.c_str()); }
  /// Reports a collective call of the only communicator from here to the end of the returned object: with a stream,
  /// queued_on() that of its work, once it is queued, else once it is done. One thread, in the same order on all ranks.
  [[nodiscard]] Collective collective(Operation operation, std::uint64_t bytes, void* stream = nullptr) const noexcept {
    return {host_, context_, operation, bytes, stream};
  }
  /// The same for one of several communicators, or where the caller counts its calls. Any thread.
  [[nodiscard]] Collective collective(const CollectiveCall& call) const noexcept { return {host_, context_, call}; }

  /// Declares what one step's phase does: floating-point operations and bytes moved; 0 is not declared. In prepare().
  void work(const char* phase, double flops, double bytes) const {
    if (host_->work) host_->work(context_, phase, flops, bytes);
  }
  /// A figure of the workload's own. Any thread.
  void metric(const char* name, double value, const char* unit = "", Per per = Per::Run) const {
    if (host_->metric_number) host_->metric_number(context_, static_cast<std::uint32_t>(per), name, value, unit);
  }
  void metric(const char* name, const char* value, Per per = Per::Run) const {
    if (host_->metric_text) host_->metric_text(context_, static_cast<std::uint32_t>(per), name, value);
  }
  void metric(const char* name, const std::string& value, Per per = Per::Run) const {
    metric(name, value.c_str(), per);
  }
  /// A named moment on the memory timeline. Any thread.
  void mark(const char* name) const {
    if (host_->mark) host_->mark(context_, name);
  }
  /// Says what the block at `address` holds. Any thread.
  void tag(const void* address, std::uint64_t bytes, Block what) const {
    if (host_->tag) host_->tag(context_, address, bytes, static_cast<std::uint32_t>(what));
  }
  /// One line in the log of the run. Any thread.
  void log(Level level, const std::string& message) const {
    if (host_->log) host_->log(context_, static_cast<std::uint32_t>(level), message.c_str());
  }
  void log(const std::string& message) const { log(Level::Info, message); }

  /// Ends the run as `skipped`: this case makes no sense here. One thread, outside the step's phases.
  [[noreturn]] void skip(const std::string& reason) const {
    if (host_->skip) host_->skip(context_, reason.c_str());
    throw Skipped{};
  }
  /// True once the run is to end: return soon. Any thread.
  bool cancelled() const { return host_->cancelled && host_->cancelled(context_) != 0; }

  /// One value of each rank, in rank order. Every rank must call it; not for timed code. Throws std::runtime_error if
  /// the ranks cannot be reached.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> all_gather(const T& mine) const {
    std::vector<T> all(static_cast<std::size_t>(world_size()), mine);
    gather_bytes(&mine, sizeof(T), all.data());
    return all;
  }
  /// Equally long parts of all ranks, one after the other in rank order.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> all_gather(const std::vector<T>& mine) const {
    std::vector<T> all(mine.size() * static_cast<std::size_t>(world_size()));
    gather_bytes(mine.data(), mine.size() * sizeof(T), all.data());
    return all;
  }

  /// What crosses the boundary underneath, for glue such as LibTorch's.
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
      throw std::runtime_error("all_gather failed: another rank ended or sent a part of another size");
    }
  }

  const kymo_host* host_;
  kymo_context* context_;
};

}  // namespace kymo
