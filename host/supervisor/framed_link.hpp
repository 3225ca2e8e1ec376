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

/// What comes over a link, told in the thread that runs the event loop. A handler that throws Error ends the link.
struct LinkEvents {
  std::function<void(const Json&)> message;
  std::function<void(std::string_view)> bytes;
  /// Told once, never from within a function of the link. `mistake` says what the other side did wrong; empty if it
  /// just went.
  std::function<void(const std::string& mistake)> closed;
};

/// A TCP connection between two supervisors. A frame is a 4-byte little-endian length and that many bytes: a JSON
/// object, or a zero byte and raw bytes. A peer that vanishes without a word is noticed by the system within a minute.
class FramedLink {
 public:
  static constexpr std::size_t kMaxFrameBytes = 64u << 20;

  /// Takes the connected socket over; reads from now on.
  FramedLink(boost::asio::io_context& loop, int socket, LinkEvents events);
  /// Closes it; no handler is called any more.
  ~FramedLink();
  FramedLink(const FramedLink&) = delete;
  FramedLink& operator=(const FramedLink&) = delete;

  /// Queued; nothing happens if the link is closed. Text that is no UTF-8 is replaced. Throws Error if the frame is too
  /// long.
  void send(const Json& message);
  void send_bytes(std::string_view bytes);
  bool open() const;
  /// Bytes that wait to be sent.
  std::size_t waiting_bytes() const;
  /// Called whenever everything has been sent.
  void on_drained(std::function<void()> handler);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Connects to a host, trying all of its addresses again and again; 0 <= result is a socket, -1: not within `seconds`,
/// with the last reason.
int connect_within(const std::string& host, std::uint16_t port, double seconds, std::string& reason);

}  // namespace kymo::supervisor
