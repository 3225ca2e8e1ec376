// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "supervisor/asio_forward.hpp"

namespace kymo::supervisor {

/// Events of a link, delivered in the thread that runs the event loop. A handler that throws Error closes the link.
struct LinkEvents {
  std::function<void(const Json&)> message;
  std::function<void(std::string_view)> bytes;
  /// Called once, never from within a function of the link. `error_message` describes a protocol error of the peer;
  /// empty if the connection just closed.
  std::function<void(const std::string& error_message)> closed;
};

/// A TCP connection between two supervisors. A frame is a 4-byte little-endian length followed by that many bytes: a
/// JSON object, or a zero byte and binary data. TCP keep-alive detects a lost peer within a minute.
class FramedLink {
 public:
  static constexpr std::size_t kMaxFrameBytes = 64u << 20;

  /// Takes ownership of the connected socket and starts reading.
  FramedLink(boost::asio::io_context& loop, int socket, LinkEvents events);
  /// Closes the link; no handler is called afterwards.
  ~FramedLink();
  FramedLink(const FramedLink&) = delete;
  FramedLink& operator=(const FramedLink&) = delete;

  /// Queues a message; does nothing if the link is closed. Invalid UTF-8 is replaced. Throws Error if the frame is too
  /// long.
  void send(const Json& message);
  void send_bytes(std::string_view bytes);
  bool open() const;
  /// Bytes queued for sending.
  std::size_t waiting_bytes() const;
  /// Calls the handler whenever all queued data has been sent.
  void on_drained(std::function<void()> handler);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kymo::supervisor
