// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <stdexcept>
#include <string>

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

/// A named region inside a phase, on any thread; scopes nest. Costs one null check in passes that do not observe scopes.
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

/// A collective call from where it is queued to where it is known to have ended; may be moved to the object that waits for it.
class Collective {
 public:
  /// `bytes` is the payload of this rank, `stream` its cudaStream_t or nullptr.
  Collective(const kymo_host* host, kymo_context* context, Operation operation, std::uint64_t bytes, void* stream) noexcept {
    if (!host->collective_begin) return;
    const kymo_collective call{sizeof(kymo_collective), static_cast<std::uint32_t>(operation), bytes, stream};
    handle_ = host->collective_begin(context, &call);
    end_ = host->collective_end;
    context_ = context;
  }
  Collective(Collective&& other) noexcept : end_(other.end_), context_(other.context_), handle_(other.handle_) { other.end_ = nullptr; }
  Collective& operator=(Collective&&) = delete;
  ~Collective() { end(); }

  void end() noexcept {
    if (end_) end_(context_, handle_);
    end_ = nullptr;
  }

 private:
  void (*end_)(kymo_context*, std::uint64_t) = nullptr;
  kymo_context* context_ = nullptr;
  std::uint64_t handle_ = 0;
};

}  // namespace kymo
