// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "supervisor/asio_forward.hpp"

namespace kymo::supervisor {

/// "SIGINT" or "SIGTERM".
const char* signal_name(int number);

/// Takes over SIGINT and SIGTERM, except one that is ignored (as under nohup), and gives the handlers back in the end.
class SignalWatch {
 public:
  /// `handle` is called from the event loop with the signal's number, each time one comes.
  SignalWatch(boost::asio::io_context& loop, std::function<void(int)> handle);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::supervisor
