// SPDX-License-Identifier: Apache-2.0
// The bytes that a process receives over a connection: frames, and the messages between supervisor and worker and
// between supervisors. Everything that is not a message is an Error, and a message is read as it was sent.
#include "measure/protocol.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/error.hpp"
#include "base/frame.hpp"
#include "fuzz/fuzz.hpp"
#include "supervisor/follower_protocol.hpp"

namespace kymo::fuzz {
namespace {

namespace protocol = measure::protocol;
namespace followers = supervisor::follower_protocol;

constexpr std::size_t kMaxBytes = 64 << 10;  // of a frame: kymo allows more, but they do not fit into an input
constexpr std::size_t kMaxDepth = 64;        // of a message that is written again, which requires stack memory

struct Received {
  std::vector<Frame> frames;
  std::string error;
};

/// Decodes a connection that delivers at most `piece` bytes at a time.
Received receive(std::string_view bytes, std::size_t piece) {
  Received received;
  FrameDecoder decoder(kMaxBytes);
  try {
    while (!bytes.empty()) {
      const std::span<char> space = decoder.missing();
      require(!space.empty(), "there is always space for the next byte");
      const std::size_t count = std::min({space.size(), bytes.size(), piece});
      std::memcpy(space.data(), bytes.data(), count);
      bytes.remove_prefix(count);
      if (auto frame = decoder.take(count)) received.frames.push_back(std::move(*frame));
    }
  } catch (const Error& error) {
    received.error = error.what();
    require(received.error.find('\n') == std::string::npos, "a message of an error is one line");
  }
  return received;
}

std::size_t depth(const Json& json) {
  std::size_t deepest = 0;
  std::vector<std::pair<const Json*, std::size_t>> open{{&json, 1}};
  while (!open.empty()) {
    const auto [at, level] = open.back();
    open.pop_back();
    deepest = std::max(deepest, level);
    if (!at->is_structured()) continue;
    for (const Json& part : *at) open.emplace_back(&part, level + 1);
  }
  return deepest;
}

void check_frame(const Frame& frame) {
  const std::string bytes = encode_frame(frame.message, frame.payload);
  if (bytes.size() > kMaxBytes) return;  // shorter as it was sent, for example without escapes
  const Received again = receive(bytes, bytes.size());
  require(again.frames.size() == 1, "an encoded frame is decoded");
  require(again.frames[0].message == frame.message && again.frames[0].payload == frame.payload,
          "a decoded frame is the same after encoding and decoding");
  require(encode_frame(again.frames[0].message, again.frames[0].payload) == bytes, "a frame is encoded in one way");
}

/// Requires that what was read is part of what was sent: fields that a message does not have may be ignored.
void require_part(const Json& read, const Json& sent, const std::string& name) {
  if (read.is_object() && sent.is_object()) {
    for (const auto& [key, value] : read.items()) {
      if (sent.contains(key)) require_part(value, sent[key], key);
    }
  } else if (read.is_array() && sent.is_array() && read.size() == sent.size()) {
    for (std::size_t i = 0; i < read.size(); ++i) require_part(read[i], sent[i], name);
  } else {
    require(read == sent,
            "the field " + name + " is read as it was sent: " + dump_json(read) + " and " + dump_json(sent));
  }
}

template <typename Message>
void check_message(Frame frame) {
  Message message;
  const Json sent = frame.message;
  try {
    message = protocol::message_from<Message>(frame);
  } catch (const Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos, "a message of an error is one line");
    return;
  }
  Json read = message;
  if constexpr (requires { Message::kType; }) read.erase("type");
  require_part(read, sent, "message");
  require(Json(Json(message).template get<Message>()) == Json(message), "a message can be sent on");
  if constexpr (std::is_same_v<Message, protocol::Gathered>) {
    try {
      const auto again = protocol::gathered(message.sequence, protocol::split_payload(message));
      require(again.sizes == message.sizes && again.payload == message.payload, "payloads are split where they end");
    } catch (const Error&) {
      // Their sizes do not add up.
    }
  }
  if constexpr (std::is_same_v<Message, followers::Plan>)
    require(followers::difference(message, message, 1).empty(), "a plan does not differ from itself");
}

template <typename... Messages>
void check_messages(const Frame& frame) {
  (check_message<Messages>(frame), ...);
}

void check_all_messages(const Frame& frame) {
  check_messages<protocol::Hello, protocol::Assignment, protocol::Progress, protocol::Barrier, protocol::Released,
                 protocol::Gather, protocol::Gathered, protocol::ClockRequest, protocol::Clock, protocol::Cancel,
                 protocol::Exit, measure::Outcome>(frame);
  check_messages<followers::Join, followers::Rejected, followers::Plan, followers::Start, followers::Begin,
                 followers::Announce, followers::WorkerRequest, followers::Ended, followers::Memory,
                 followers::WorkerOutput, followers::FilePart, followers::Signalled, followers::Finish>(frame);
}

/// Checks everything about a connection on which these bytes arrive.
void check_connection(std::string_view bytes) {
  const Received received = receive(bytes, bytes.size());
  const Received slow = receive(bytes, 1);
  require(slow.error == received.error && slow.frames.size() == received.frames.size(),
          "frames do not depend on how their bytes arrive");
  for (std::size_t i = 0; i < received.frames.size(); ++i) {
    const Frame& frame = received.frames[i];
    if (depth(frame.message) > kMaxDepth) continue;
    require(frame.message == slow.frames[i].message && frame.payload == slow.frames[i].payload,
            "a frame does not depend on how its bytes arrive");
    check_frame(frame);
    check_all_messages(frame);
  }
}

/// A frame with this content.
std::string framed(std::string_view body) {
  std::string bytes(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(body.size() >> (8 * i) & 0xFF);
  return bytes.append(body);
}

/// Every message, with a value in each list, map and option.
std::vector<std::string> seeds() {
  protocol::Assignment assignment;
  assignment.what.parameters = {{"n", std::int64_t{4}}, {"a", 2.5}, {"on", true}, {"dtype", std::string("fp32")}};
  assignment.what.plugin_libraries = {{"librest.so", "7b7b"}};
  assignment.method.until = measure::StoppingRule{};
  assignment.method.passes = {measure::Pass::kTime, measure::Pass::kTrace};
  measure::Outcome outcome;
  outcome.verification = event::CheckOutcome::kPassed;
  outcome.stage = "step";
  followers::Plan plan;
  plan.plugins = {{"saxpy", "/plugins/saxpy.so", "5a5a", {{"librest.so", "7b7b"}}}};
  plan.digests = {"0123", "4567"};
  plan.plugin_of_run = {0, 0};
  followers::Ended ended;
  ended.end.last_line = "terminate called";
  const std::vector<std::string> frames{encode_frame(protocol::Hello{}),
                                        encode_frame(assignment),
                                        encode_frame(protocol::Progress{"step", 3, 10}),
                                        encode_frame(protocol::Barrier{7}),
                                        encode_frame(protocol::Released{7, true}),
                                        encode_frame(protocol::Gather{8, ""}, "payload"),
                                        encode_frame(protocol::gathered(8, {"one", "four"}), "onefour"),
                                        encode_frame(protocol::ClockRequest{1}),
                                        encode_frame(protocol::Clock{1, 123456789, "boot"}),
                                        encode_frame(protocol::Cancel{}),
                                        encode_frame(protocol::Exit{}),
                                        encode_frame(outcome),
                                        encode_frame(followers::Join{}),
                                        encode_frame(followers::Rejected{"another version"}),
                                        encode_frame(plan),
                                        encode_frame(followers::Start{}),
                                        encode_frame(followers::Begin{}),
                                        encode_frame(followers::Announce{}),
                                        encode_frame(followers::WorkerRequest{"kill", 4}),
                                        encode_frame(ended),
                                        encode_frame(followers::Memory{}),
                                        encode_frame(followers::WorkerOutput{1, "out", "err", 5}),
                                        encode_frame(followers::FilePart{1, ""}, "bytes"),
                                        encode_frame(followers::Signalled{2}),
                                        encode_frame(followers::Finish{3})};
  std::vector<std::string> all{frames[2] + frames[3] + frames[5]};
  for (const std::string& frame : frames) {
    all.push_back(frame);
    all.push_back(frame.substr(4));  // framed by the target
  }
  return all;
}

}  // namespace
}  // namespace kymo::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  kymo::fuzz::write_seeds(*count, *arguments, kymo::fuzz::seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = kymo::fuzz::as_text(data, size);
  kymo::fuzz::check_connection(bytes);
  kymo::fuzz::check_connection(kymo::fuzz::framed(bytes));  // most changes of an input make its lengths wrong
  return 0;
}
