// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include "base/error.hpp"

namespace kymo::measure::protocol {

Gathered gathered(std::int64_t sequence, const std::vector<std::string>& payloads) {
  Gathered message{sequence, {}, ""};
  for (const auto& payload : payloads) {
    message.sizes.push_back(payload.size());
    message.payload += payload;
  }
  return message;
}

std::vector<std::string> split_payload(const Gathered& message) {
  std::vector<std::string> payloads;
  std::size_t begin = 0;
  for (const std::size_t size : message.sizes) {
    if (size > message.payload.size() - begin) break;
    payloads.push_back(message.payload.substr(begin, size));
    begin += size;
  }
  if (payloads.size() != message.sizes.size() || begin != message.payload.size())
    throw Error("the sizes of gathered payloads do not add up");
  return payloads;
}

std::string type_of(const Json& message) { return required_field<std::string>(message, "type"); }

}  // namespace kymo::measure::protocol
