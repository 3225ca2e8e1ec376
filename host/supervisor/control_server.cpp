// SPDX-License-Identifier: Apache-2.0
#include "supervisor/control_server.hpp"

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/unix_socket.hpp"
#include "supervisor/framed_link.hpp"
#include "supervisor/steady_seconds.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
namespace protocol = measure::protocol;
namespace fs = std::filesystem;
using asio::generic::stream_protocol;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t kMaxHelloBytes = 4096;  ///< memory limit for unauthenticated connections
constexpr std::ptrdiff_t kMaxUnauthenticated = 256;
constexpr std::ptrdiff_t kMaxPerAddress = 64;  ///< unauthenticated connections of one network address
constexpr std::chrono::seconds kHelloTime{10};
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::int64_t kReportIntervalNs = 10'000'000'000;

/// Compares in constant time, so that timing does not reveal how much of a token is right.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

tcp::endpoint tcp_endpoint(const stream_protocol::endpoint& generic) {
  tcp::endpoint endpoint;
  std::memcpy(endpoint.data(), generic.data(), generic.size());
  endpoint.resize(generic.size());
  return endpoint;
}

struct Connection {
  asio::steady_timer deadline;
  std::string address;  ///< of the peer; empty for a Unix socket
  WorkerId worker = 0;  ///< 0 until the worker has authenticated
  std::unique_ptr<FramedLink> link = nullptr;
};
/// Connections are numbered from 1 in the order in which they are accepted.
using ConnectionNumber = std::uint64_t;

struct Expected {
  std::string token;
  int rank = 0;
  ConnectionNumber connection = 0;  ///< 0 until it has authenticated; not reset when it is closed
  std::int64_t pid = 0;
};

}  // namespace

struct ControlServer::Impl : std::enable_shared_from_this<ControlServer::Impl> {
  Impl(asio::io_context& given_loop, ControlEvents given)
      : loop(given_loop), acceptor(loop), pause(loop), events(std::move(given)) {}

  void listen(const ListenAt& where) {
    if (!where.socket_file.empty()) return listen_locally(where.socket_file);
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

  void listen_locally(const fs::path& preferred) {
    int listener = -1;
    try {
      listener = listen_at(socket_file = preferred);
    } catch (const Error& e) {  // not every file system can hold a socket
      log::debug(e.what());
      own_folder = make_private_folder("kymo-control");
      listener = listen_at(socket_file = own_folder / "control");
    }
    acceptor.assign(stream_protocol(AF_UNIX, 0), listener);
    accept();
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
    acceptor.open(stream_protocol(endpoint.protocol()), failed);
    if (!failed && endpoint.port() != 0) acceptor.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor.bind(stream_protocol::endpoint(endpoint), failed);
    if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  }

  void accept() {
    acceptor.async_accept([self = shared_from_this()](const error_code& failed, stream_protocol::socket socket) {
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

  /// Drops the oldest of these connections if there are too many: a worker authenticates at once, so that idle
  /// connections cannot keep it out.
  template <typename Which>
  void make_room(std::ptrdiff_t limit, Which which) {
    if (std::count_if(connections.begin(), connections.end(), which) >= limit)
      connections.erase(std::find_if(connections.begin(), connections.end(), which));
  }

  void accept_connection(stream_protocol::socket socket) {
    if (is_local() && !peer_is_trusted(socket.native_handle())) return report_rejected(1);
    error_code gone;
    const stream_protocol::endpoint peer = socket.remote_endpoint(gone);
    if (gone) return;
    const std::string address = is_local() ? "" : tcp_endpoint(peer).address().to_string();
    const auto unauthenticated = [](const auto& each) { return each.second.worker == 0; };
    make_room(kMaxPerAddress,
              [&](const auto& each) { return unauthenticated(each) && each.second.address == address; });
    make_room(kMaxUnauthenticated, unauthenticated);
    const ConnectionNumber number = ++last_connection;
    Connection& connection =
        connections.emplace(number, Connection{asio::steady_timer(loop, kHelloTime), address}).first->second;
    limit(number, connection);
    connection.link = std::make_unique<FramedLink>(
        loop, socket.release(),
        LinkEvents{[this, number](Frame& frame) { on_frame(number, frame); },
                   [this, number](const std::string& error_message) { on_closed(number, error_message); }},
        kMaxHelloBytes);
  }

  /// Closes the connection if it does not authenticate in time.
  void limit(ConnectionNumber number, Connection& connection) {
    connection.deadline.async_wait(
        [self = shared_from_this(), number, began_suspended_ns = suspended_ns.load()](const error_code& cancelled) {
          const auto found = self->connections.find(number);
          if (cancelled || found == self->connections.end() || found->second.worker != 0) return;
          if (suspended_ns == began_suspended_ns) return void(self->connections.erase(found));
          found->second.deadline.expires_after(kHelloTime);
          self->limit(number, found->second);
        });
  }

  void on_frame(ConnectionNumber number, Frame& frame) {
    Connection& connection = connections.at(number);
    const std::string type = protocol::type_of(frame.message);
    if (connection.worker == 0) {
      if (type == protocol::Hello::kType) return authenticate(number, protocol::message_from<protocol::Hello>(frame));
      return pass_on(number, frame.message);
    }
    if (type != protocol::ClockRequest::kType) return events.frame(connection.worker, frame);
    // Answered immediately, independent of the state of the pass: delays here add to the worker's clock uncertainty.
    const auto request = protocol::message_from<protocol::ClockRequest>(frame);
    connection.link->send(protocol::Clock{request.sequence, now_ns(), boot_id});
  }

  /// The worker with this token, and with this rank if there is one; 0 if there is none.
  WorkerId find(const protocol::Hello& hello) const {
    WorkerId found = 0;
    for (const auto& [id, expected] : workers)
      if (same_secret(expected.token, hello.token) && (found == 0 || expected.rank == hello.rank)) found = id;
    return found;
  }

  /// Handles the first frame, which identifies the worker.
  void authenticate(ConnectionNumber number, const protocol::Hello& hello) {
    if (find(hello) != 0 && !hello.again && events.admits && !events.admits(hello)) {
      connections.erase(number);
      return;
    }
    const WorkerId found = find(hello);
    const bool is_expected =
        found != 0 && (hello.again ? hello.pid == workers[found].pid : workers[found].connection == 0);
    if (!is_expected) {
      report_rejected(1);
      connections.erase(number);
      return;
    }
    connections.erase(workers[found].connection);  // whose end may not have been read yet
    workers[found].connection = number;
    workers[found].pid = hello.pid;
    Connection& connection = connections.at(number);
    connection.worker = found;
    connection.deadline.cancel();
    connection.link->set_max_frame_bytes(kMaxFrameBytes);
    if (hello.protocol != protocol::kVersion) {
      return connection.link->close("uses version " + std::to_string(hello.protocol) +
                                    " of the worker protocol; this kymo uses version " +
                                    std::to_string(protocol::kVersion));
    }
    if (hello.rank != workers[found].rank)
      return connection.link->close("claims to be rank " + std::to_string(hello.rank));
    events.connected(found, hello);
  }

  /// Reports the first rejected connection at once, and further ones at most once per interval and at the end, so that
  /// a flood of connections does not flood the terminal.
  void report_rejected(std::int64_t more) {
    rejected += more;
    if (rejected == 0 || (more > 0 && now_ns() < next_report_ns)) return;
    log::warning("rejected " + (rejected == 1 ? "a connection" : std::to_string(rejected) + " connections") +
                 " from processes that are not workers of this run");
    rejected = 0;
    next_report_ns = now_ns() + kReportIntervalNs;
  }

  void pass_on(ConnectionNumber number, const Json& message) {
    const int socket = events.other ? connections.at(number).link->release() : -1;
    connections.erase(number);
    if (events.other) events.other(socket, message);
  }

  void on_closed(ConnectionNumber number, const std::string& error_message) {
    const WorkerId worker = connections.at(number).worker;
    connections.erase(number);
    if (worker != 0) events.closed(worker, error_message);
  }

  void stop() {
    error_code ignored;
    stopped = true;
    report_rejected(0);
    acceptor.close(ignored);
    std::error_code kept;
    if (is_local()) fs::remove(socket_file, kept);
    if (!own_folder.empty()) fs::remove(own_folder, kept);
    pause.cancel();
    connections.clear();
    workers.clear();
  }

  bool is_local() const { return !socket_file.empty(); }

  asio::io_context& loop;
  asio::basic_socket_acceptor<stream_protocol> acceptor;
  fs::path socket_file;  ///< empty if it listens on TCP
  fs::path own_folder;   ///< of the socket; empty if the caller chose its place
  asio::steady_timer pause;
  ControlEvents events;
  std::map<WorkerId, Expected> workers;
  std::map<ConnectionNumber, Connection> connections;
  const std::string boot_id = kymo::boot_id();
  WorkerId last_id = 0;
  ConnectionNumber last_connection = 0;
  std::int64_t rejected = 0;  ///< since the last report
  std::int64_t next_report_ns = 0;
  bool stopped = false;
};

ControlServer::ControlServer(asio::io_context& loop, ControlEvents events, const ListenAt& where)
    : impl_(std::make_shared<Impl>(loop, std::move(events))) {
  impl_->listen(where);
}

ControlServer::~ControlServer() { impl_->stop(); }

std::string ControlServer::address() const {
  if (impl_->is_local()) return impl_->socket_file.string();
  const tcp::endpoint endpoint = tcp_endpoint(impl_->acceptor.local_endpoint());
  return (endpoint.address().is_unspecified() ? "127.0.0.1" : endpoint.address().to_string()) + ":" +
         std::to_string(endpoint.port());
}

WorkerId ControlServer::expect(const std::string& token, int rank) {
  impl_->workers[++impl_->last_id] = Expected{token, rank};
  return impl_->last_id;
}

void ControlServer::send(WorkerId worker, const Json& message, std::string_view payload) {
  const auto expected = impl_->workers.find(worker);
  if (expected == impl_->workers.end()) return;
  const auto connection = impl_->connections.find(expected->second.connection);
  if (connection != impl_->connections.end()) connection->second.link->send(message, payload);
}

void ControlServer::forget(WorkerId worker) {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end()) return;
  impl_->connections.erase(found->second.connection);
  impl_->workers.erase(found);
}

}  // namespace kymo::supervisor
