// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "worker/control_client.hpp"

namespace kymo::worker {

/// A control client over one TCP connection.
class SocketClient final : public ControlClient {
 public:
  /// Connects and sends `hello`. Throws Error if the connection fails.
  SocketClient(const std::string& host, std::uint16_t port, int rank, const std::string& token);
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
  void send_frame(const Json& frame);
  /// Reads available frames into the inbox; waits for data if `wait`.
  void receive(bool wait);
  Json next_frame();
  /// Waits for a frame with this type and sequence number and drops older ones; nullopt if the run is cancelled in the
  /// meantime.
  std::optional<Json> await(const std::string& type, std::int64_t sequence);
  void take_frames_out_of_buffer();

  int socket_ = -1;
  std::string buffer_;  // bytes of incomplete frames
  std::deque<Json> inbox_;
  bool cancelled_ = false;
  std::int64_t barriers_ = 0;
  std::int64_t gathers_ = 0;
  std::int64_t clock_requests_ = 0;
};

/// Encodes bytes as base64 (RFC 4648, padded).
std::string to_base64(std::string_view bytes);

/// Decodes padded base64; throws Error for any other input.
std::string from_base64(std::string_view text);

}  // namespace kymo::worker
