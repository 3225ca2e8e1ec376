// SPDX-License-Identifier: Apache-2.0
#include "supervisor/framed_link.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <utility>

#include "base/error.hpp"

namespace kymo::supervisor {
namespace asio = boost::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;

namespace {

constexpr int kIdle_s = 15;                   ///< idle time before the kernel sends keep-alive probes
constexpr int kProbe_s = 5;                   ///< interval between probes
constexpr int kProbes = 4;                    ///< unanswered probes before the connection is closed
constexpr std::size_t kMaxUnread = 8u << 20;  ///< bytes: reads nothing from a peer that leaves more than this unread
constexpr unsigned kUnsent_ms = 35'000;       ///< timeout for data the peer does not acknowledge

int family_of(int socket) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

}  // namespace

struct FramedLink::Impl : std::enable_shared_from_this<FramedLink::Impl> {
  Impl(asio::io_context& loop, int fd, LinkEvents given, std::size_t max_frame_bytes)
      : socket(loop), events(std::move(given)), decoder(max_frame_bytes) {
    socket.assign(stream_protocol(family_of(fd), 0), fd);
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a Unix socket has no such option and needs none
  }

  void read() {
    paused = waiting > kMaxUnread;
    if (paused) return;
    const auto space = decoder.missing();
    socket.async_read_some(asio::buffer(space.data(), space.size()),
                           [self = shared_from_this()](const error_code& failed, std::size_t count) {
                             if (self->closed) return;
                             if (failed) return self->end("");
                             self->take(count);
                             if (!self->closed) self->read();
                           });
  }

  void take(std::size_t count) {
    std::optional<Frame> frame;
    try {
      frame = decoder.take(count);
    } catch (const Error& e) {
      return end(e.what());
    }
    try {
      if (frame) events.message(*frame);
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
                        if (self->paused) self->read();
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

  stream_protocol::socket socket;
  LinkEvents events;
  FrameDecoder decoder;
  std::deque<std::string> outgoing;
  std::size_t waiting = 0;
  std::function<void()> drained;
  bool paused = false;
  bool closed = false;
};

FramedLink::FramedLink(asio::io_context& loop, int socket, LinkEvents events, std::size_t max_frame_bytes)
    : impl_(std::make_shared<Impl>(loop, socket, std::move(events), max_frame_bytes)) {
  impl_->read();
}

FramedLink::~FramedLink() {
  impl_->events.closed = nullptr;
  impl_->close();
}

void FramedLink::keep_alive() {
  const int socket = impl_->socket.native_handle();
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdle_s, sizeof kIdle_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kProbe_s, sizeof kProbe_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnsent_ms, sizeof kUnsent_ms);
}

int FramedLink::release() {
  const int socket = impl_->socket.release();
  impl_->close();
  return socket;
}

void FramedLink::set_max_frame_bytes(std::size_t max_frame_bytes) { impl_->decoder.set_max_bytes(max_frame_bytes); }
void FramedLink::send(const Json& message, std::string_view payload) { impl_->send(encode_frame(message, payload)); }
bool FramedLink::open() const { return !impl_->closed; }
void FramedLink::close(const std::string& error_message) { impl_->end(error_message); }
std::size_t FramedLink::waiting_bytes() const { return impl_->waiting; }
void FramedLink::on_drained(std::function<void()> handler) { impl_->drained = std::move(handler); }

}  // namespace kymo::supervisor
