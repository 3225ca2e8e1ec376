// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/enum_names.hpp"

namespace kymo::event {

using kymo::to_string;  // so that it is found by argument-dependent lookup

/// What a compiler of the framework did (Dynamo and its backends).
enum class CompilationKind { kCompilation, kRecompilation, kBackward, kRuntime, kFailure, kGraphBreak };
constexpr auto names_of(CompilationKind) {
  using enum CompilationKind;
  return enum_names<CompilationKind>("compilation kind", {{kCompilation, "compilation"},
                                                          {kRecompilation, "recompilation"},
                                                          {kBackward, "backward"},
                                                          {kRuntime, "runtime"},
                                                          {kFailure, "failure"},
                                                          {kGraphBreak, "graph_break"}});
}

/// A compilation or a graph break.
struct Compilation {
  CompilationKind kind = CompilationKind::kCompilation;
  std::int64_t step = -1;          ///< of the pass; -1 before its first step
  std::int64_t program_step = -1;  ///< of an observed program, from 0; -1 before its first step
  std::int64_t start_ns = 0;       ///< host clock, relative to the start of the run
  std::int64_t duration_ns = 0;
  std::optional<std::int64_t> inductor_ns;  ///< part of it in Inductor
  std::string function;
  std::string file;
  std::optional<std::int64_t> line;
  std::string reason;
};

}  // namespace kymo::event
