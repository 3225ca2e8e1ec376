// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

/// RAII objects for named regions of a step. A region begins on construction and ends on destruction.
namespace kymo {

/// A separately timed part of a step. Phases partition the step, are declared in describe() and do not nest.
class Phase {
 public:
  /// Throws std::runtime_error if the host rejects the phase: not declared, nested, or outside a step.
  Phase(const kymo_host* host, kymo_context* context, const char* name, void* stream) {
    if (!host->phase_begin) return;
    if (host->phase_begin(context, name, stream) != KYMO_OK) {
      throw std::runtime_error(
          "phase '" + std::string(name) +
          "' was rejected: declare phases in describe(), do not nest them, and begin them only in step()");
    }
    end_ = host->phase_end;
    context_ = context;
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
  ~Phase() { end(); }

  /// Ends the phase before the object is destroyed.
  void end() noexcept {
    if (end_) end_(context_);
    end_ = nullptr;
  }

 private:
  kymo_status (*end_)(kymo_context*) = nullptr;
  kymo_context* context_ = nullptr;
};

/// A phase that interrupts another one, such as the recomputation of activations in the backward pass: the other phase
/// ends and begins again around it, so that phases still partition the step. The thread may be another one than that of
/// the workload, which waits for it.
class InnerPhase {
 public:
  /// `outer` is the open phase. Throws like Phase.
  InnerPhase(const kymo_host* host, kymo_context* context, const char* name, const char* outer, void* stream)
      : host_(host), context_(context), outer_(outer), stream_(stream) {
    if (!host->phase_begin) return;
    host->phase_end(context);
    inner_.emplace(host, context, name, stream);
  }
  InnerPhase(const InnerPhase&) = delete;
  InnerPhase& operator=(const InnerPhase&) = delete;
  ~InnerPhase() {
    if (!inner_) return;
    inner_.reset();
    host_->phase_begin(context_, outer_, stream_);
  }

 private:
  const kymo_host* host_;
  kymo_context* context_;
  const char* outer_;
  void* stream_;
  std::optional<Phase> inner_;
};

/// A named region inside a phase, on any thread. Scopes nest. In passes that do not record scopes, a scope costs one
/// null check.
class Scope {
 public:
  Scope(const kymo_host* host, kymo_context* context, const char* name) noexcept {
    if (!host->scope_begin) return;
    host->scope_begin(context, name);
    end_ = host->scope_end;
    context_ = context;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (end_) end_(context_);
  }

 private:
  void (*end_)(kymo_context*) = nullptr;
  kymo_context* context_ = nullptr;
};

enum class Operation : std::uint32_t {
  AllReduce = KYMO_ALL_REDUCE,
  ReduceScatter = KYMO_REDUCE_SCATTER,
  AllGather = KYMO_ALL_GATHER,
  Broadcast = KYMO_BROADCAST,
  Barrier = KYMO_BARRIER,
  Reduce = KYMO_REDUCE,
  Gather = KYMO_GATHER,
  Scatter = KYMO_SCATTER,
  AllToAll = KYMO_ALL_TO_ALL,
  Send = KYMO_SEND,
  Receive = KYMO_RECEIVE,
};

/// Returns the value to report as the stream of a call that is queued on `stream`, a cudaStream_t. In a report nullptr
/// means that the call runs on the host, so the default stream, whose handle is nullptr, is reported as
/// cudaStreamLegacy.
inline void* queued_on(void* stream) noexcept { return stream ? stream : reinterpret_cast<void*>(std::uintptr_t{1}); }

/// A collective call on this rank.
struct CollectiveCall {
  Operation operation = Operation::AllReduce;
  std::uint64_t bytes = 0;  ///< payload size on this rank
  void* stream =
      nullptr;  ///< queued_on() of the stream that the work is queued on; nullptr if the work runs on the host
  const char* communicator =
      nullptr;                 ///< communicator name, identical on all of its ranks; nullptr if there is only one
  std::uint64_t sequence = 0;  ///< index of this call in its communicator, from 0, identical on all ranks
};

/// The use of a collective call, which may end before that of its object. A default-constructed object reports nothing.
class CollectiveUse {
 public:
  CollectiveUse() = default;
  CollectiveUse(const kymo_host* host, kymo_context* context, std::uint64_t handle) noexcept
      : needed_(host->collective_needed), context_(context), handle_(handle) {}

  /// Reports that this thread needs the result from now on, before it waits or makes its stream wait. `by` names what
  /// needs it, by default the open scope. The first report of a call counts.
  void needed(const char* by = nullptr) const noexcept {
    if (needed_) needed_(context_, handle_, by);
  }

 private:
  void (*needed_)(kymo_context*, std::uint64_t, const char*) = nullptr;
  kymo_context* context_ = nullptr;
  std::uint64_t handle_ = 0;
};

/// Reports a collective call from construction until its work is queued (with a stream) or complete (without one). The
/// object can be moved to the code that waits for the work and ended on another thread. A default-constructed object
/// reports nothing.
class Collective {
 public:
  Collective() = default;
  Collective(const kymo_host* host, kymo_context* context, const CollectiveCall& call) noexcept {
    begin(host, context,
          {sizeof(kymo_collective), static_cast<std::uint32_t>(call.operation), call.bytes, call.stream,
           call.communicator, call.sequence});
  }
  /// For the only communicator. The host counts its calls, so all ranks must make the same calls in the same order,
  /// from one thread.
  Collective(const kymo_host* host, kymo_context* context, Operation operation, std::uint64_t bytes,
             void* stream) noexcept {
    begin(host, context,
          {offsetof(kymo_collective, communicator), static_cast<std::uint32_t>(operation), bytes, stream, nullptr, 0});
  }
  Collective(Collective&& other) noexcept
      : end_(std::exchange(other.end_, nullptr)), context_(other.context_), handle_(other.handle_), use_(other.use_) {}
  /// Ends the call that this object currently holds.
  Collective& operator=(Collective&& other) noexcept {
    if (this == &other) return *this;
    end();
    end_ = std::exchange(other.end_, nullptr);
    context_ = other.context_;
    handle_ = other.handle_;
    use_ = other.use_;
    return *this;
  }
  ~Collective() { end(); }

  void end() noexcept {
    if (const auto end = std::exchange(end_, nullptr)) end(context_, handle_);
  }

  const CollectiveUse& use() const noexcept { return use_; }

 private:
  void begin(const kymo_host* host, kymo_context* context, const kymo_collective& call) noexcept {
    if (!host->collective_begin) return;
    handle_ = host->collective_begin(context, &call);
    end_ = host->collective_end;
    context_ = context;
    use_ = {host, context, handle_};
  }

  void (*end_)(kymo_context*, std::uint64_t) = nullptr;
  kymo_context* context_ = nullptr;
  std::uint64_t handle_ = 0;
  CollectiveUse use_;
};

}  // namespace kymo
