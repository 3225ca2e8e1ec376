// SPDX-License-Identifier: Apache-2.0
#include "supervisor/control_server.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "measure/clock_comparison.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
namespace protocol = measure::protocol;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::uint32_t kMaxHelloBytes = 4096;  ///< memory limit for unauthenticated connections
constexpr std::size_t kMaxUnauthenticated = 256;
constexpr std::chrono::seconds kHelloTime{10};
constexpr std::chrono::milliseconds kAcceptPause{100};

/// Compares in constant time, so that timing does not reveal how much of a token is right.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::string encoded(const Json& frame) {
  std::string body;
  try {
    body = frame.dump();
  } catch (const Json::exception& e) {
    throw Error(std::string("cannot encode a message to a worker: ") + e.what());
  }
  if (body.size() > protocol::kMaxFrameBytes)
    throw Error("cannot send " + format_bytes(static_cast<std::int64_t>(body.size())) + " in one frame");
  const auto length = static_cast<std::uint32_t>(body.size());
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>((length >> shift) & 0xFF));
  return bytes + body;
}

struct Connection {
  explicit Connection(tcp::socket accepted) : socket(std::move(accepted)), deadline(socket.get_executor()) {}
  tcp::socket socket;
  asio::steady_timer deadline;
  WorkerId worker = 0;  ///< 0 until the worker has authenticated
  std::array<unsigned char, 4> header{};
  std::string body;
  std::deque<std::string> outgoing;
  bool closed = false;
};
using ConnectionPtr = std::shared_ptr<Connection>;

struct Expected {
  std::string token;
  int rank = 0;
  ConnectionPtr connection;
};

}  // namespace

struct ControlServer::Impl : std::enable_shared_from_this<ControlServer::Impl> {
  Impl(asio::io_context& loop, ControlEvents given) : acceptor(loop), pause(loop), events(std::move(given)) {}

  void listen(const ListenAt& where) {
    const std::vector<tcp::endpoint> endpoints = endpoints_of(where);
    for (const auto& endpoint : endpoints) {
      error_code failed;
      try_listen(endpoint, failed);
      if (!failed) return accept();
      if (failed == boost::system::errc::address_not_available && &endpoint != &endpoints.back())
        continue;  // the address belongs to a name that is not assigned to this machine
      const std::string listen_address =
          endpoint.address().to_string() + (where.port == 0 ? "" : " at port " + std::to_string(where.port));
      const bool taken = failed == asio::error::address_in_use && where.port != 0;
      throw Error("cannot listen for workers on " + listen_address + ": " + failed.message() +
                  (taken ? "; set KYMO_PORT to a free port, the same for every rank" : ""));
    }
  }

  /// Endpoints to try in order. The last one is always available on this machine.
  std::vector<tcp::endpoint> endpoints_of(const ListenAt& where) {
    std::vector<tcp::endpoint> endpoints;
    error_code failed;
    for (const auto& found :
         tcp::resolver(acceptor.get_executor()).resolve(where.host, std::to_string(where.port), failed))
      if (!where.from_elsewhere || !found.endpoint().address().is_loopback()) endpoints.push_back(found.endpoint());
    if (failed && !where.from_elsewhere)
      throw Error("cannot listen for workers on " + quote(where.host) + ": " + failed.message());
    if (where.from_elsewhere) endpoints.emplace_back(tcp::v4(), where.port);
    return endpoints;
  }

  void try_listen(const tcp::endpoint& endpoint, error_code& failed) {
    error_code ignored;
    acceptor.close(ignored);
    acceptor.open(endpoint.protocol(), failed);
    if (!failed && endpoint.port() != 0) acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed) acceptor.bind(endpoint, failed);
    if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  }

  void accept() {
    acceptor.async_accept([self = shared_from_this()](const error_code& failed, tcp::socket socket) {
      if (self->stopped) return;
      if (!failed) self->accept_connection(std::move(socket));
      if (!failed) return self->accept();
      self->pause.expires_after(kAcceptPause);  // probably out of file descriptors; retrying immediately would
                                                // busy-wait
      self->pause.async_wait([self](const error_code& cancelled) {
        if (!cancelled) self->accept();
      });
    });
  }

  void accept_connection(tcp::socket socket) {
    if (unauthenticated.size() >= kMaxUnauthenticated) return;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection = std::make_shared<Connection>(std::move(socket));
    unauthenticated.insert(connection);
    connection->deadline.expires_after(kHelloTime);
    connection->deadline.async_wait([self = shared_from_this(), connection](const error_code& cancelled) {
      if (!cancelled && connection->worker == 0) self->drop(connection, "");
    });
    read_frame(connection);
  }

  void read_frame(const ConnectionPtr& connection) {
    asio::async_read(connection->socket, asio::buffer(connection->header),
                     [self = shared_from_this(), connection](const error_code& failed, std::size_t) {
                       if (connection->closed) return;
                       if (failed) return self->drop(connection, "");
                       self->read_body(connection);
                     });
  }

  void read_body(const ConnectionPtr& connection) {
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= static_cast<std::uint32_t>(connection->header[i]) << (8 * i);
    const std::uint32_t most = connection->worker == 0 ? kMaxHelloBytes : protocol::kMaxFrameBytes;
    if (length > most) {
      return drop(connection,
                  "announced a frame of " + std::to_string(length) + " bytes; " + std::to_string(most) + " allowed");
    }
    connection->body.resize(length);
    asio::async_read(connection->socket, asio::buffer(connection->body),
                     [self = shared_from_this(), connection](const error_code& failed, std::size_t) {
                       if (connection->closed) return;
                       if (failed) return self->drop(connection, "");
                       self->take_frame(connection);
                       if (!connection->closed) self->read_frame(connection);
                     });
  }

  void take_frame(const ConnectionPtr& connection) {
    try {
      const Json frame = parse_json(connection->body, "a worker's frame");
      if (connection->worker == 0) return authenticate(connection, frame);
      if (protocol::type_of(frame) == "clock_request")
        return send_clock(connection, protocol::clock_request_from(frame));
      events.frame(connection->worker, frame);
    } catch (const Error& e) {
      drop(connection, std::string("sent an invalid message: ") + e.what());
    }
  }

  /// Handles the first frame, which identifies the worker.
  void authenticate(const ConnectionPtr& connection, const Json& frame) {
    if (protocol::type_of(frame) != "hello") return pass_on(connection, frame);
    const protocol::Hello hello = protocol::hello_from(frame);
    WorkerId found = 0;
    for (const auto& [id, expected] : workers)
      if (same_secret(expected.token, hello.token)) found = id;
    if (found == 0 || workers[found].connection) {
      log::warning("rejected a connection from a process that is not a worker of this run");
      return drop(connection, "");
    }
    connection->worker = found;
    unauthenticated.erase(connection);
    connection->deadline.cancel();
    workers[found].connection = connection;
    if (hello.protocol != protocol::kVersion) {
      return drop(connection, "uses version " + std::to_string(hello.protocol) +
                                  " of the worker protocol; this kymo uses version " +
                                  std::to_string(protocol::kVersion));
    }
    if (hello.rank != workers[found].rank) return drop(connection, "claims to be rank " + std::to_string(hello.rank));
    events.connected(found, hello);
  }

  void pass_on(const ConnectionPtr& connection, const Json& frame) {
    if (!events.other) return drop(connection, "");
    error_code failed;
    const int socket = connection->socket.release(failed);
    drop(connection, "");
    if (!failed) events.other(socket, frame);
  }

  /// Answered immediately, independent of the state of the pass: delays here add to the worker's clock uncertainty.
  void send_clock(const ConnectionPtr& connection, const protocol::ClockRequest& question) {
    write(connection, protocol::to_json(protocol::Clock{question.sequence, now_ns(), boot_id}));
  }

  void drop(const ConnectionPtr& connection, const std::string& error_message) {
    if (connection->closed) return;
    close(*connection);
    unauthenticated.erase(connection);
    if (connection->worker != 0 && workers.contains(connection->worker))
      events.closed(connection->worker, error_message);
  }

  static void close(Connection& connection) {
    error_code ignored;
    connection.closed = true;
    connection.deadline.cancel();
    connection.socket.close(ignored);
  }

  void write(const ConnectionPtr& connection, const Json& frame) {
    connection->outgoing.push_back(encoded(frame));
    if (connection->outgoing.size() == 1) write_next(connection);
  }

  void write_next(const ConnectionPtr& connection) {
    asio::async_write(connection->socket, asio::buffer(connection->outgoing.front()),
                      [self = shared_from_this(), connection](const error_code& failed, std::size_t) {
                        if (connection->closed) return;
                        if (failed) return self->drop(connection, "");
                        connection->outgoing.pop_front();
                        if (!connection->outgoing.empty()) self->write_next(connection);
                      });
  }

  void stop() {
    error_code ignored;
    stopped = true;
    acceptor.close(ignored);
    pause.cancel();
    for (const auto& connection : unauthenticated) close(*connection);
    for (auto& [id, expected] : workers)
      if (expected.connection) close(*expected.connection);
    unauthenticated.clear();
    workers.clear();
  }

  tcp::acceptor acceptor;
  asio::steady_timer pause;
  ControlEvents events;
  std::map<WorkerId, Expected> workers;
  std::set<ConnectionPtr> unauthenticated;
  const std::string boot_id = measure::boot_id();
  WorkerId last_id = 0;
  bool stopped = false;
};

ControlServer::ControlServer(asio::io_context& loop, ControlEvents events, const ListenAt& where)
    : impl_(std::make_shared<Impl>(loop, std::move(events))) {
  impl_->listen(where);
}

ControlServer::~ControlServer() { impl_->stop(); }

std::uint16_t ControlServer::port() const { return impl_->acceptor.local_endpoint().port(); }

std::string ControlServer::address() const {
  const auto address = impl_->acceptor.local_endpoint().address();
  return address.is_unspecified() ? "127.0.0.1" : address.to_string();
}

WorkerId ControlServer::expect(const std::string& token, int rank) {
  impl_->workers[++impl_->last_id] = Expected{token, rank, nullptr};
  return impl_->last_id;
}

void ControlServer::send(WorkerId worker, const Json& frame) {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end() || !found->second.connection || found->second.connection->closed) return;
  impl_->write(found->second.connection, frame);
}

void ControlServer::forget(WorkerId worker) {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end()) return;
  if (found->second.connection) Impl::close(*found->second.connection);
  impl_->workers.erase(found);
}

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("cannot get random numbers from the system");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) (text += kDigits[byte >> 4]) += kDigits[byte & 15];
  return text;
}

}  // namespace kymo::supervisor
