// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "supervisor/pass_state.hpp"

/// What tests of PassState have in common.
namespace kymo::supervisor {

inline Outcome outcome(RunStatus status, const std::string& detail = "") {
  return {.status = status, .detail = detail, .stage = "step", .phase = "forward", .step = 3};
}

/// Actions as short strings, so that a test reads like a protocol.
inline std::vector<std::string> texts(const Actions& actions) {
  struct Writer {
    std::string operator()(const Release& a) const {
      return "release " + std::to_string(a.rank) + " #" + std::to_string(a.sequence) + (a.stop ? " stop" : "");
    }
    std::string operator()(const Collected& a) const {
      std::string text = "gathered " + std::to_string(a.rank) + " #" + std::to_string(a.sequence);
      for (const auto& payload : a.payloads) text += " " + payload;
      return text;
    }
    std::string operator()(const SendCancel& a) const { return "cancel " + std::to_string(a.rank); }
    std::string operator()(const SendExit& a) const { return "exit " + std::to_string(a.rank); }
    std::string operator()(const Kill& a) const { return "kill " + std::to_string(a.rank); }
  };
  std::vector<std::string> result;
  for (const auto& action : actions) result.push_back(std::visit(Writer{}, action));
  return result;
}

inline PassState started(int ranks, PassLimits limits = {}) {
  PassState state(Pass::kTime, ranks, limits, 0);
  for (int rank = 0; rank < ranks; ++rank) state.connected(rank, 0);
  return state;
}

}  // namespace kymo::supervisor
