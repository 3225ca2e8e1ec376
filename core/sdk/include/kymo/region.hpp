// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

/// Named stretches of a step that begin where they are made and end where they go out of scope.
namespace kymo {

/// A part of a step that is timed on its own. Phases tile the step: they are declared in describe() and never nest.
class Phase {
 public:
  /// Throws std::runtime_error if the host refuses the phase: undeclared, nested, or outside a step.
  Phase(const kymo_host* host, kymo_context* context, const char* name, void* stream) {
    if (!host->phase_begin) return;
    if (host->phase_begin(context, name, stream) != KYMO_OK) {
      throw std::runtime_error("phase '" + std::string(name) +
                               "' was refused: phases are declared in describe(), do not nest, and belong into step()");
    }
    end_ = host->phase_end;
    context_ = context;
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
  ~Phase() { end(); }

  /// Ends the phase before its variable goes out of scope.
  void end() noexcept {
    if (end_) end_(context_);
    end_ = nullptr;
  }

 private:
  kymo_status (*end_)(kymo_context*) = nullptr;
  kymo_context* context_ = nullptr;
};

/// A named region inside a phase, on any thread; scopes nest. Costs one null check in passes that do not observe
/// scopes.
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
};

/// What to report as the stream of a call that is queued on `stream`, a cudaStream_t. The default stream's handle is
/// nullptr, which in a report says that the call runs on the host; CUDA's other name for it, cudaStreamLegacy, stands
/// for it there.
inline void* queued_on(void* stream) noexcept { return stream ? stream : reinterpret_cast<void*>(std::uintptr_t{1}); }

/// One call of a collective as this rank makes it.
struct CollectiveCall {
  Operation operation = Operation::AllReduce;
  std::uint64_t bytes = 0;             ///< payload of this rank
  void* stream = nullptr;              ///< queued_on() the work's stream; nullptr where it runs from begin to end
  const char* communicator = nullptr;  ///< its name, the same on all its ranks; nullptr for the only one
  std::uint64_t sequence = 0;          ///< counts the calls of the communicator from 0, the same on all its ranks
};

/// A collective call from where it is made to where its work is queued (with a stream) or done (without). It may be
/// moved to the object that waits for the work, and be ended on another thread; one that ends nothing costs nothing.
class Collective {
 public:
  Collective() = default;
  Collective(const kymo_host* host, kymo_context* context, const CollectiveCall& call) noexcept {
    begin(host, context,
          {sizeof(kymo_collective), static_cast<std::uint32_t>(call.operation), call.bytes, call.stream,
           call.communicator, call.sequence});
  }
  /// Of the only communicator, whose calls the host counts: all ranks make the same calls in the same order, from one
  /// thread.
  Collective(const kymo_host* host, kymo_context* context, Operation operation, std::uint64_t bytes,
             void* stream) noexcept {
    begin(host, context,
          {offsetof(kymo_collective, communicator), static_cast<std::uint32_t>(operation), bytes, stream, nullptr, 0});
  }
  Collective(Collective&& other) noexcept
      : end_(std::exchange(other.end_, nullptr)), context_(other.context_), handle_(other.handle_) {}
  /// Ends the call that this object held.
  Collective& operator=(Collective&& other) noexcept {
    if (this == &other) return *this;
    end();
    end_ = std::exchange(other.end_, nullptr);
    context_ = other.context_;
    handle_ = other.handle_;
    return *this;
  }
  ~Collective() { end(); }

  void end() noexcept {
    if (const auto end = std::exchange(end_, nullptr)) end(context_, handle_);
  }

 private:
  void begin(const kymo_host* host, kymo_context* context, const kymo_collective& call) noexcept {
    if (!host->collective_begin) return;
    handle_ = host->collective_begin(context, &call);
    end_ = host->collective_end;
    context_ = context;
  }

  void (*end_)(kymo_context*, std::uint64_t) = nullptr;
  kymo_context* context_ = nullptr;
  std::uint64_t handle_ = 0;
};

}  // namespace kymo
