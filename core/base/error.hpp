// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace kymo {

/// Exit codes of the command line tool.
enum class ExitCode : int {
  kOk = 0,
  kToolError = 1,
  kUsage = 2,
  kRunFailed = 3,
  kInterrupted = 130,
  kTerminated = 143,
};

/// Something the tool could not do. The message is one line: what was wrong, where, and what would be right.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::kToolError)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Something the user asked for that cannot be: exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitCode::kUsage) {}
};

}  // namespace kymo
