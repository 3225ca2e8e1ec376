// SPDX-License-Identifier: Apache-2.0
#include "worker/socket_client.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "base/tcp.hpp"

namespace kymo::worker {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr auto kValues = make_values();

namespace protocol = measure::protocol;

constexpr std::size_t kLengthBytes = 4;

int connect_to_supervisor(const std::string& host, std::uint16_t port) {
  try {
    return connect_to(host, port);
  } catch (const Error& e) {
    throw Error("cannot reach the control server at " + host + ":" + std::to_string(port) + ": " + e.what());
  }
}

std::string frame_bytes(const Json& frame) {
  const std::string body = dump_json(frame);
  if (body.size() > protocol::kMaxFrameBytes)
    throw Error("a frame of " + std::to_string(body.size()) + " bytes exceeds the limit of the protocol");
  std::string bytes;
  bytes.reserve(kLengthBytes + body.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>(body.size() >> (8 * i) & 255);
  return bytes + body;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string from_base64(std::string_view text) {
  if (text.size() % 4 != 0) throw Error("a gathered payload is not base64: its length is not a multiple of 4");
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t padding = 0;
    if (i + 4 == text.size()) padding = text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint8_t value = k < 4 - padding ? kValues[static_cast<unsigned char>(text[i + k])] : 0;
      if (value == kNoDigit) throw Error("a gathered payload is not base64: it contains an invalid character");
      group = group << 6 | value;
    }
    for (std::size_t k = 0; k < 3 - padding; ++k) bytes += static_cast<char>(group >> (16 - 8 * k) & 255);
  }
  return bytes;
}

SocketClient::SocketClient(const std::string& host, std::uint16_t port, int rank, const std::string& token)
    : socket_(connect_to_supervisor(host, port)) {
  // Frames are small and latency-critical.
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  protocol::Hello hello;
  hello.token = token;
  hello.rank = rank;
  hello.pid = getpid();
  send_frame(protocol::to_json(hello));
}

SocketClient::~SocketClient() { close(socket_); }

void SocketClient::send_frame(const Json& frame) {
  const std::string bytes = frame_bytes(frame);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw ConnectionLost(std::string("the supervisor is gone: ") + std::strerror(errno));
    sent += static_cast<std::size_t>(count);
  }
}

void SocketClient::receive(bool wait) {
  std::array<char, 65536> part;
  for (;;) {
    const ssize_t count = recv(socket_, part.data(), part.size(), wait ? 0 : MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count < 0) throw ConnectionLost(std::string("the supervisor is gone: ") + std::strerror(errno));
    if (count == 0) throw ConnectionLost("the supervisor has closed the connection");
    buffer_.append(part.data(), static_cast<std::size_t>(count));
    wait = false;
    if (static_cast<std::size_t>(count) < part.size()) break;
  }
  take_frames_out_of_buffer();
}

void SocketClient::take_frames_out_of_buffer() {
  std::size_t position = 0;
  while (buffer_.size() - position >= kLengthBytes) {
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
      length |= std::uint32_t{static_cast<unsigned char>(buffer_[position + i])} << (8 * i);
    if (length > protocol::kMaxFrameBytes)
      throw Error("the control server sent a frame of " + std::to_string(length) +
                  " bytes, which exceeds the limit; is the address that of a different program?");
    if (buffer_.size() - position - kLengthBytes < length) break;
    inbox_.push_back(
        parse_json(std::string_view(buffer_).substr(position + kLengthBytes, length), "a frame of the control server"));
    position += kLengthBytes + length;
  }
  buffer_.erase(0, position);
}

Json SocketClient::next_frame() {
  while (inbox_.empty()) receive(true);
  Json frame = std::move(inbox_.front());
  inbox_.pop_front();
  return frame;
}

std::optional<protocol::Assignment> SocketClient::next_assignment() {
  cancelled_ = false;
  barriers_ = 0;
  gathers_ = 0;
  clock_requests_ = 0;
  for (;;) {
    const Json frame = next_frame();
    const std::string type = protocol::type_of(frame);
    if (type == "exit") return std::nullopt;
    if (type == "assignment") return protocol::assignment_from(frame);
    // Other frames are replies to a pass that has already ended, such as a cancel that crossed its outcome.
  }
}

void SocketClient::send(const protocol::Progress& progress) { send_frame(protocol::to_json(progress)); }
void SocketClient::send(const measure::Outcome& outcome) { send_frame(protocol::to_json(outcome)); }

std::optional<Json> SocketClient::await(const std::string& type, std::int64_t sequence) {
  while (!cancelled_) {
    Json frame = next_frame();
    const std::string its_type = protocol::type_of(frame);
    if (its_type == "cancel") cancelled_ = true;
    if (its_type == "exit") throw ConnectionLost("the supervisor ended this worker during a pass");
    if (its_type == type && frame.value("sequence", std::int64_t{-1}) == sequence) return frame;
  }
  return std::nullopt;
}

Release SocketClient::barrier(bool stop) {
  const std::int64_t sequence = barriers_++;
  send_frame(protocol::to_json(protocol::Barrier{sequence, stop}));
  const auto frame = await("released", sequence);
  if (!frame) return Release::kCancelled;
  return protocol::released_from(*frame).stop ? Release::kStop : Release::kGo;
}

std::optional<std::vector<std::string>> SocketClient::gather(const std::string& bytes) {
  const std::int64_t sequence = gathers_++;
  send_frame(protocol::to_json(protocol::Gather{sequence, to_base64(bytes)}));
  const auto frame = await("gathered", sequence);
  if (!frame) return std::nullopt;
  std::vector<std::string> parts;
  for (const std::string& payload : protocol::gathered_from(*frame).payloads) parts.push_back(from_base64(payload));
  return parts;
}

std::optional<protocol::Clock> SocketClient::request_clock() {
  const std::int64_t sequence = clock_requests_++;
  send_frame(protocol::to_json(protocol::ClockRequest{sequence}));
  const auto frame = await("clock", sequence);
  return frame ? std::optional(protocol::clock_from(*frame)) : std::nullopt;
}

bool SocketClient::cancelled() {
  receive(false);
  const auto is_cancel = [](const Json& frame) { return protocol::type_of(frame) == "cancel"; };
  if (std::erase_if(inbox_, is_cancel) > 0) cancelled_ = true;
  return cancelled_;
}

}  // namespace kymo::worker
