// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/frame.hpp"
#include "measure/protocol.hpp"
#include "supervisor/asio_forward.hpp"

namespace kymo::supervisor {

/// Identifies a worker within one control server.
using WorkerId = std::uint64_t;

/// Notifications about workers, delivered in the thread that runs the event loop. A handler may call the server.
struct ControlEvents {
  std::function<void(WorkerId, const measure::protocol::Hello&)> connected;
  std::function<void(WorkerId, Frame&)> frame;
  /// The connection is closed. `error_message` describes a protocol error of the worker, or is empty.
  std::function<void(WorkerId, const std::string& error_message)> closed;
  /// A connection whose first frame is not `hello`; the handler takes ownership of the socket. Without a handler the
  /// connection is dropped.
  std::function<void(int socket, const Json& message)> other = nullptr;
  /// A process presents the token of an expected worker. The handler may expect and forget workers; if it returns
  /// false, the connection is closed. Without a handler it is accepted if the worker has not connected before.
  std::function<bool(const measure::protocol::Hello&)> admits = nullptr;
};

/// Address a control server listens on; by default the loopback interface and a port chosen by the system.
struct ListenAt {
  /// Not empty: listen on a Unix socket of this name instead, or in a private temporary directory if the file system
  /// cannot hold it. Connections from other users are rejected.
  std::filesystem::path socket_file = {};
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  bool from_elsewhere = false;  ///< other machines connect: skip names that resolve to the loopback interface
};

/// Server side of the worker protocol. A connection that does not present the token of an expected worker within a time
/// limit is dropped, as is one with a different protocol version. Clock queries are answered by the server itself.
class ControlServer {
 public:
  /// Throws Error if it cannot listen.
  ControlServer(boost::asio::io_context& loop, ControlEvents events, const ListenAt& where = {});
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// The address at which this machine reaches the server, as for `kymo worker --connect`.
  std::string address() const;
  /// Accepts one connection from the worker with this token and rank. Workers may have the same token.
  WorkerId expect(const std::string& token, int rank);
  /// Sends a message if the worker is connected. Invalid UTF-8 is replaced. Throws Error if the frame is too long.
  void send(WorkerId worker, const Json& message, std::string_view payload = {});
  /// Closes the worker's connection, if any, without notifying the handlers.
  void forget(WorkerId worker);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kymo::supervisor
