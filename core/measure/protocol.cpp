// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::measure {
namespace {

[[noreturn]] void reject_status(const std::string& name) { throw Error("reported the unknown status " + quote(name)); }

}  // namespace

void to_json(Json& json, RunStatus status) { json = to_string(status); }

void from_json(const Json& json, RunStatus& status) {
  const auto name = json.get<std::string>();
  const auto found = kRunStatusNames.find(name);
  if (!found) reject_status(name);
  status = *found;
}

void Outcome::check() const {
  if (status == RunStatus::kCrashed || status == RunStatus::kTimeout) reject_status(to_string(status));
}

}  // namespace kymo::measure

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

void nlohmann::adl_serializer<kymo::event::CheckOutcome>::to_json(kymo::Json& json, kymo::event::CheckOutcome outcome) {
  json = kymo::event::to_string(outcome);
}

void nlohmann::adl_serializer<kymo::event::CheckOutcome>::from_json(const kymo::Json& json,
                                                                    kymo::event::CheckOutcome& outcome) {
  outcome = kymo::event::check_outcome_from(json.get<std::string>());
}
