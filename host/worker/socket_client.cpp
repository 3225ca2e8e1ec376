// SPDX-License-Identifier: Apache-2.0
#include "worker/socket_client.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "base/tcp.hpp"
#include "base/unix_socket.hpp"

namespace kymo::worker {
namespace protocol = measure::protocol;

namespace {

int connect_to_supervisor(const std::string& address) {
  try {
    if (address.find('/') != std::string::npos) return connect_to(std::filesystem::path(address));
    const std::size_t colon = address.rfind(':');
    return connect_to(address.substr(0, colon), static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
  } catch (const Error& e) {
    throw Error("cannot reach the control server at " + address + ": " + e.what());
  }
}

std::atomic<int> connected{-1};  // the socket of this process
std::atomic<ino_t> connected_inode{0};

/// Whether a descriptor is still that of the connection, and not closed or that of a file of the program.
bool is_connection(int socket) {
  struct stat found{};
  return fstat(socket, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_ino == connected_inode;
}

/// A fork that held the connection would keep it open after the end of this process.
void close_in_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (const int inherited = connected.exchange(-1); is_connection(inherited)) close(inherited);
  });
  (void)registered;
}

}  // namespace

SocketClient::SocketClient(const std::string& address, int rank, const std::string& token, int ranks)
    : address_(address) {
  hello_.token = token;
  hello_.rank = rank;
  hello_.pid = getpid();
  hello_.ranks = ranks;
  close_in_forks();
  connect();
}

SocketClient::~SocketClient() {
  connected = -1;
  if (is_connection(socket_)) close(socket_);
}

void SocketClient::connect() {
  socket_ = connect_to_supervisor(address_);
  struct stat status{};
  fstat(socket_, &status);
  connected_inode = status.st_ino;
  connected = socket_;
  // Frames are small and latency-critical. A Unix socket has no such option and needs none.
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  send_frame(hello_);
}

void SocketClient::connect_again() {
  if (hello_.pid != getpid()) throw ConnectionLost("this process is a fork of the one with the connection");
  hello_.again = true;
  decoder_ = FrameDecoder();
  try {
    connect();
  } catch (const Error& error) {
    throw ConnectionLost(std::string("the connection was closed by this process: ") + error.what());
  }
}

void SocketClient::send_frame(const Json& message, std::string_view payload) {
  if (!is_connection(socket_)) connect_again();
  const std::string bytes = encode_frame(message, payload);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw ConnectionLost(std::string("the supervisor is gone: ") + std::strerror(errno));
    sent += static_cast<std::size_t>(count);
  }
}

void SocketClient::receive(bool wait) {
  if (!is_connection(socket_)) {
    if (wait) throw ConnectionLost("the connection was closed by this process");
    connect_again();
  }
  for (;;) {
    const std::span<char> space = decoder_.missing();
    const ssize_t count = recv(socket_, space.data(), space.size(), wait ? 0 : MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count < 0) throw ConnectionLost(std::string("the supervisor is gone: ") + std::strerror(errno));
    if (count == 0) throw ConnectionLost("the supervisor has closed the connection");
    try {
      auto frame = decoder_.take(static_cast<std::size_t>(count));
      if (!frame) continue;
      inbox_.push_back(std::move(*frame));
    } catch (const Error& e) {
      throw Error(std::string("the control server ") + e.what() + "; is the address that of a different program?");
    }
    if (wait) return;
  }
}

Frame SocketClient::next_frame() {
  if (inbox_.empty()) receive(true);
  Frame frame = std::move(inbox_.front());
  inbox_.pop_front();
  return frame;
}

std::optional<protocol::Assignment> SocketClient::next_assignment() {
  cancelled_ = false;
  barriers_ = 0;
  gathers_ = 0;
  clock_requests_ = 0;
  for (;;) {
    Frame frame = next_frame();
    const std::string type = protocol::type_of(frame.message);
    if (type == protocol::Exit::kType) return std::nullopt;
    if (type == protocol::Assignment::kType) return protocol::message_from<protocol::Assignment>(frame);
    // Other frames are replies to a pass that has already ended, such as a cancel that crossed its outcome.
  }
}

void SocketClient::send(const protocol::Progress& progress) { send_frame(progress); }
void SocketClient::send(const measure::Outcome& outcome) { send_frame(outcome); }

template <typename Reply>
std::optional<Reply> SocketClient::await(std::int64_t sequence) {
  while (!cancelled_) {
    Frame frame = next_frame();
    const std::string type = protocol::type_of(frame.message);
    if (type == protocol::Cancel::kType) cancelled_ = true;
    if (type == protocol::Exit::kType) throw ConnectionLost("the supervisor ended this worker during a pass");
    if (type != Reply::kType) continue;
    auto reply = protocol::message_from<Reply>(frame);
    if (reply.sequence == sequence) return reply;
  }
  return std::nullopt;
}

Release SocketClient::barrier(bool stop) {
  const std::int64_t sequence = barriers_++;
  send_frame(protocol::Barrier{sequence, stop});
  const auto released = await<protocol::Released>(sequence);
  if (!released) return Release::kCancelled;
  return released->stop ? Release::kStop : Release::kGo;
}

std::optional<std::vector<std::string>> SocketClient::gather(const std::string& bytes) {
  const std::int64_t sequence = gathers_++;
  send_frame(protocol::Gather{sequence, ""}, bytes);
  const auto gathered = await<protocol::Gathered>(sequence);
  return gathered ? std::optional(protocol::split_payload(*gathered)) : std::nullopt;
}

std::optional<protocol::Clock> SocketClient::request_clock() {
  const std::int64_t sequence = clock_requests_++;
  send_frame(protocol::ClockRequest{sequence});
  return await<protocol::Clock>(sequence);
}

bool SocketClient::cancelled() {
  receive(false);
  const auto is_cancel = [](const Frame& frame) { return protocol::type_of(frame.message) == protocol::Cancel::kType; };
  if (std::erase_if(inbox_, is_cancel) > 0) cancelled_ = true;
  return cancelled_;
}

}  // namespace kymo::worker
