// SPDX-License-Identifier: Apache-2.0
#include "supervisor/framed_link.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr int kIdle_s = 15;              ///< idle time before the kernel sends keep-alive probes
constexpr int kProbe_s = 5;              ///< interval between probes
constexpr int kProbes = 4;               ///< unanswered probes before the connection is closed
constexpr unsigned kUnsent_ms = 35'000;  ///< timeout for data the peer does not acknowledge

tcp protocol_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
}

void keep_alive(int socket) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdle_s, sizeof kIdle_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kProbe_s, sizeof kProbe_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnsent_ms, sizeof kUnsent_ms);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string framed(std::string_view body) {
  if (body.size() > FramedLink::kMaxFrameBytes)
    throw Error("cannot send " + format_bytes(static_cast<std::int64_t>(body.size())) + " in one frame");
  std::string bytes;
  bytes.reserve(body.size() + 4);
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>((body.size() >> shift) & 0xFF));
  bytes += body;
  return bytes;
}

}  // namespace

struct FramedLink::Impl : std::enable_shared_from_this<FramedLink::Impl> {
  Impl(asio::io_context& loop, int fd, LinkEvents given) : socket(loop), events(std::move(given)) {
    keep_alive(fd);
    socket.assign(protocol_of(fd), fd);
  }

  void read_header() {
    asio::async_read(socket, asio::buffer(header), [self = shared_from_this()](const error_code& failed, std::size_t) {
      if (self->closed) return;
      if (failed) return self->end("");
      self->read_body();
    });
  }

  void read_body() {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= static_cast<std::size_t>(header[i]) << (8 * i);
    if (length == 0 || length > kMaxFrameBytes) {
      return end("announced a frame of " + std::to_string(length) + " bytes; 1 to " + std::to_string(kMaxFrameBytes) +
                 " allowed");
    }
    body.resize(length);
    asio::async_read(socket, asio::buffer(body), [self = shared_from_this()](const error_code& failed, std::size_t) {
      if (self->closed) return;
      if (failed) return self->end("");
      self->take_body();
      if (!self->closed) self->read_header();
    });
  }

  void take_body() {
    // Copied, because a handler may destroy the link and its members.
    const LinkEvents now = events;
    try {
      if (body.front() == '\0') {
        now.bytes(std::string_view(body).substr(1));
      } else {
        const Json message = parse_json(body, "a supervisor's frame");
        if (!message.is_object()) throw Error("a frame is not a JSON object");
        now.message(message);
      }
    } catch (const Error& e) {
      end(std::string("sent an invalid message: ") + e.what());
    }
  }

  void send(std::string frame) {
    if (closed) return;
    waiting += frame.size();
    outgoing.push_back(std::move(frame));
    if (outgoing.size() == 1) write_next();
  }

  void write_next() {
    asio::async_write(socket, asio::buffer(outgoing.front()),
                      [self = shared_from_this()](const error_code& failed, std::size_t) {
                        if (self->closed) return;
                        if (failed) return self->end("");
                        self->waiting -= self->outgoing.front().size();
                        self->outgoing.pop_front();
                        if (!self->outgoing.empty()) return self->write_next();
                        if (const auto handler = self->drained) handler();
                      });
  }

  void close() {
    error_code ignored;
    closed = true;
    socket.close(ignored);
    outgoing.clear();
    waiting = 0;
    drained = nullptr;
  }

  void end(const std::string& error_message) {
    if (closed) return;
    close();
    asio::post(socket.get_executor(), [self = shared_from_this(), error_message] {
      const auto handler = std::exchange(self->events.closed, nullptr);
      if (handler) handler(error_message);
    });
  }

  tcp::socket socket;
  LinkEvents events;
  std::array<unsigned char, 4> header{};
  std::string body;
  std::deque<std::string> outgoing;
  std::size_t waiting = 0;
  std::function<void()> drained;
  bool closed = false;
};

FramedLink::FramedLink(asio::io_context& loop, int socket, LinkEvents events)
    : impl_(std::make_shared<Impl>(loop, socket, std::move(events))) {
  impl_->read_header();
}

FramedLink::~FramedLink() {
  impl_->events.closed = nullptr;
  impl_->close();
}

void FramedLink::send(const Json& message) { impl_->send(framed(dump_json(message))); }
void FramedLink::send_bytes(std::string_view bytes) { impl_->send(framed(std::string(1, '\0').append(bytes))); }
bool FramedLink::open() const { return !impl_->closed; }
std::size_t FramedLink::waiting_bytes() const { return impl_->waiting; }
void FramedLink::on_drained(std::function<void()> handler) { impl_->drained = std::move(handler); }

}  // namespace kymo::supervisor
