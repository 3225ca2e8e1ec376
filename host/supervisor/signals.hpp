// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "supervisor/asio_forward.hpp"

namespace kymo::supervisor {

/// "SIGINT", "SIGHUP" or "SIGTERM".
const char* signal_name(int number);

/// Handles SIGINT, SIGTERM, SIGHUP and SIGTSTP, except a signal that is ignored (as under nohup), and restores the
/// previous handlers on destruction.
class SignalWatch {
 public:
  /// `handle` is called from the event loop with the signal number for each signal; all SIGHUP count as one.
  SignalWatch(boost::asio::io_context& loop, std::function<void(int)> handle);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::supervisor
