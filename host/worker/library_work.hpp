// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_operators.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "event/records.hpp"

namespace kymo::worker {

/// The work of operators by the functions that libraries of this process export (kymo_operators.h).
class LibraryWork {
 public:
  /// Adds the work of a call if a library has the operator, and no earlier call had the same name and arguments. The
  /// ids of earlier calls must have had the same texts.
  void add(const event::Texts& texts, const event::Operator& call, std::vector<event::LibraryOpWork>& to);

 private:
  std::optional<event::CallWork> work_of(const std::string& name, const std::string& arguments);
  void find_functions();

  std::unordered_set<std::uint64_t> seen_;
  std::uint64_t library_changes_ = 0;  // of the process, when the functions were looked for
  std::vector<kymo_operator_work_function> functions_;
};

}  // namespace kymo::worker
