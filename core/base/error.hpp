// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace kymo {

/// Exit codes of the command-line tool.
enum class ExitCode : int {
  kOk = 0,
  kToolError = 1,
  kUsage = 2,
  kRunFailed = 3,
};

/// The exit code of a tool that ended because of a signal, as that of a shell.
constexpr int exit_code_of_signal(int number) { return 128 + number; }

/// An operation that failed. The one-line message states what failed, where, and how to fix it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::kToolError)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Invalid command-line arguments or input: exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitCode::kUsage) {}
};

}  // namespace kymo
