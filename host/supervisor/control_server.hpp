// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "measure/protocol.hpp"
#include "supervisor/asio_forward.hpp"

namespace kymo::supervisor {

/// Numbers a worker within one control server.
using WorkerId = std::uint64_t;

/// What workers did, told in the thread that runs the event loop. A handler may call the server.
struct ControlEvents {
  std::function<void(WorkerId, const measure::protocol::Hello&)> connected;
  std::function<void(WorkerId, const Json&)> frame;
  /// The connection is gone; `mistake` says what the worker did wrong, or is empty.
  std::function<void(WorkerId, const std::string& mistake)> closed;
  /// Somebody began with another frame than `hello`; the socket is the handler's from now on. Without a handler the
  /// connection is dropped.
  std::function<void(int socket, const Json& frame)> other = nullptr;
};

/// Where a control server listens: by default on the loopback interface, at a port that the system chooses.
struct ListenAt {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  bool from_elsewhere = false;  ///< other machines connect: a name that means the loopback interface here does not do
};

/// The end of the worker protocol that listens. A connection that does not soon show the token of a worker
/// that is expected is dropped; so is one that speaks another version of the protocol. Questions for the clock it
/// answers itself.
class ControlServer {
 public:
  /// Throws Error if it cannot listen.
  ControlServer(boost::asio::io_context& loop, ControlEvents events, const ListenAt& where = {});
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  std::uint16_t port() const;
  /// The address by which this machine reaches it.
  std::string address() const;
  /// Lets the worker with this token in, once.
  WorkerId expect(const std::string& token, int rank);
  /// Sends a frame if the worker is connected. Throws Error if it cannot be written as JSON or is too long.
  void send(WorkerId worker, const Json& frame);
  /// Closes the worker's connection, if there is one, without telling the handlers.
  void forget(WorkerId worker);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// 64 hexadecimal digits that nobody can guess.
std::string random_token();

}  // namespace kymo::supervisor
