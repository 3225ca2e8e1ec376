// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/frame.hpp"
#include "supervisor/asio_forward.hpp"

namespace kymo::supervisor {

/// Events of a link, delivered in the thread that runs the event loop. A handler may destroy the link. A handler that
/// throws Error closes it.
struct LinkEvents {
  std::function<void(Frame&)> message;
  /// Called once, never from within a function of the link. `error_message` describes a protocol error of the peer;
  /// empty if the connection just closed.
  std::function<void(const std::string& error_message)> closed;
};

/// A TCP or Unix connection of a supervisor to a worker or another supervisor.
class FramedLink {
 public:
  /// Takes ownership of the connected socket and starts reading.
  FramedLink(boost::asio::io_context& loop, int socket, LinkEvents events,
             std::size_t max_frame_bytes = kMaxFrameBytes);
  /// Closes the link; no handler is called afterwards.
  ~FramedLink();
  FramedLink(const FramedLink&) = delete;
  FramedLink& operator=(const FramedLink&) = delete;

  /// Detects a lost peer within a minute.
  void keep_alive();
  /// Sets the limit for the next frames of the peer.
  void set_max_frame_bytes(std::size_t max_frame_bytes);
  /// Queues a message; does nothing if the link is closed. Invalid UTF-8 is replaced. Throws Error if the frame is too
  /// long.
  void send(const Json& message, std::string_view payload = {});
  bool open() const;
  /// Closes the link because of a protocol error of the peer.
  void close(const std::string& error_message);
  /// Gives up the ownership of the socket; no handler is called afterwards. Call from the handler of a message.
  int release();
  /// Bytes queued for sending.
  std::size_t waiting_bytes() const;
  /// Calls the handler whenever all queued data has been sent.
  void on_drained(std::function<void()> handler);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kymo::supervisor
