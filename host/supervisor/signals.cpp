// SPDX-License-Identifier: Apache-2.0
#include "supervisor/signals.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>
#include <vector>

namespace kymo::supervisor {

const char* signal_name(int number) { return number == SIGINT ? "SIGINT" : number == SIGHUP ? "SIGHUP" : "SIGTERM"; }

struct SignalWatch::Impl {
  Impl(boost::asio::io_context& loop, std::function<void(int)> given) : signals(loop), handle(std::move(given)) {}

  void wait() {
    signals.async_wait([this](const boost::system::error_code& cancelled, int number) {
      if (cancelled) return;
      wait();
      // When a terminal is closed, both the shell and the system send the signal, on a busy machine not soon one after
      // the other.
      if (number != SIGHUP || !std::exchange(hung_up, true)) handle(number);
    });
  }

  boost::asio::signal_set signals;
  std::function<void(int)> handle;
  std::vector<std::pair<int, struct sigaction>> before;
  bool hung_up = false;
};

SignalWatch::SignalWatch(boost::asio::io_context& loop, std::function<void(int)> handle)
    : impl_(std::make_unique<Impl>(loop, std::move(handle))) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) {
    struct sigaction now{};
    sigaction(number, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;
    impl_->before.emplace_back(number, now);
    impl_->signals.add(number);
  }
  impl_->wait();
}

SignalWatch::~SignalWatch() {
  boost::system::error_code ignored;
  impl_->signals.clear(ignored);
  for (const auto& [number, action] : impl_->before) sigaction(number, &action, nullptr);
}

}  // namespace kymo::supervisor
