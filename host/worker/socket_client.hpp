// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/frame.hpp"
#include "worker/control_client.hpp"

namespace kymo::worker {

/// A control client over one connection, which it makes again if the workload or program has closed it.
class SocketClient final : public ControlClient {
 public:
  /// Connects and sends `hello`. The address is HOST:PORT, or the path of a Unix socket, which contains a slash. Throws
  /// Error if the connection fails. Processes that this one forks do not hold the connection.
  SocketClient(const std::string& address, int rank, const std::string& token, int ranks = 0);
  ~SocketClient() override;
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  std::optional<measure::protocol::Assignment> next_assignment() override;
  void send(const measure::protocol::Progress& progress) override;
  void send(const measure::Outcome& outcome) override;
  Release barrier(bool stop) override;
  std::optional<std::vector<std::string>> gather(const std::string& bytes) override;
  std::optional<measure::protocol::Clock> request_clock() override;
  bool cancelled() override;

 private:
  void connect();
  /// Throws ConnectionLost in a fork.
  void connect_again();
  void send_frame(const Json& message, std::string_view payload = {});
  /// Reads frames into the inbox: one if `wait`, otherwise those that have arrived.
  void receive(bool wait);
  Frame next_frame();
  /// Waits for a reply of this type with this sequence number and drops older ones; nullopt if the run is cancelled in
  /// the meantime.
  template <typename Reply>
  std::optional<Reply> await(std::int64_t sequence);

  const std::string address_;
  measure::protocol::Hello hello_;
  int socket_ = -1;
  FrameDecoder decoder_;
  std::deque<Frame> inbox_;
  bool cancelled_ = false;
  std::int64_t barriers_ = 0;
  std::int64_t gathers_ = 0;
  std::int64_t clock_requests_ = 0;
};

}  // namespace kymo::worker
