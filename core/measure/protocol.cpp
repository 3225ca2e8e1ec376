// SPDX-License-Identifier: Apache-2.0
#include "measure/protocol.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/json_field.hpp"

namespace kymo::measure::protocol {
namespace {

template <typename T>
T field(const Json& frame, const char* name) {
  return required_field<T>(frame, name);
}

RunStatus reported_status(const std::string& name) {
  const auto status = kRunStatusNames.find(name);
  // A worker cannot report its own crash or time-out.
  if (!status || *status == RunStatus::kCrashed || *status == RunStatus::kTimeout)
    throw Error("reported the unknown status " + quote(name));
  return *status;
}

}  // namespace

std::string type_of(const Json& frame) {
  if (!frame.is_object()) throw Error("a frame is not a JSON object");
  return field<std::string>(frame, "type");
}

Json to_json(const Hello& m) {
  return {{"type", "hello"}, {"protocol", m.protocol}, {"token", m.token}, {"rank", m.rank}, {"pid", m.pid}};
}

Hello hello_from(const Json& f) {
  return {field<int>(f, "protocol"), field<std::string>(f, "token"), field<int>(f, "rank"),
          field<std::int64_t>(f, "pid")};
}

Json to_json(const Assignment& m) {
  return {{"type", "assignment"},
          {"run_id", m.run_id},
          {"case", m.what},
          {"method", m.method},
          {"pass", m.pass},
          {"rank", m.rank},
          {"local_rank", m.local_rank},
          {"device_index", m.device_index},
          {"rendezvous_host", m.rendezvous_host},
          {"rendezvous_port", m.rendezvous_port},
          {"rank_file", m.rank_file}};
}

Assignment assignment_from(const Json& f) {
  Assignment m;
  m.run_id = field<std::int64_t>(f, "run_id");
  m.what = field<Case>(f, "case");
  m.method = field<Method>(f, "method");
  m.pass = field<Pass>(f, "pass");
  m.rank = field<int>(f, "rank");
  m.local_rank = field<int>(f, "local_rank");
  m.device_index = field<int>(f, "device_index");
  m.rendezvous_host = field<std::string>(f, "rendezvous_host");
  m.rendezvous_port = field<std::uint16_t>(f, "rendezvous_port");
  m.rank_file = field<std::string>(f, "rank_file");
  return m;
}

Json to_json(const Progress& m) {
  return {{"type", "progress"}, {"stage", m.stage}, {"step", m.step}, {"steps", m.steps}, {"failing", m.failing}};
}

Progress progress_from(const Json& f) {
  return {field<std::string>(f, "stage"), field<std::int64_t>(f, "step"), field<std::int64_t>(f, "steps"),
          field<bool>(f, "failing")};
}

Json to_json(const Barrier& m) { return {{"type", "barrier"}, {"sequence", m.sequence}, {"stop", m.stop}}; }
Barrier barrier_from(const Json& f) { return {field<std::int64_t>(f, "sequence"), field<bool>(f, "stop")}; }

Json to_json(const Released& m) { return {{"type", "released"}, {"sequence", m.sequence}, {"stop", m.stop}}; }
Released released_from(const Json& f) { return {field<std::int64_t>(f, "sequence"), field<bool>(f, "stop")}; }

Json to_json(const Gather& m) { return {{"type", "gather"}, {"sequence", m.sequence}, {"payload", m.payload}}; }
Gather gather_from(const Json& f) { return {field<std::int64_t>(f, "sequence"), field<std::string>(f, "payload")}; }

Json to_json(const Gathered& m) { return {{"type", "gathered"}, {"sequence", m.sequence}, {"payloads", m.payloads}}; }
Gathered gathered_from(const Json& f) {
  return {field<std::int64_t>(f, "sequence"), field<std::vector<std::string>>(f, "payloads")};
}

Json to_json(const ClockRequest& m) { return {{"type", "clock_request"}, {"sequence", m.sequence}}; }
ClockRequest clock_request_from(const Json& f) { return {field<std::int64_t>(f, "sequence")}; }

Json to_json(const Clock& m) {
  return {{"type", "clock"}, {"sequence", m.sequence}, {"clock_ns", m.clock_ns}, {"boot_id", m.boot_id}};
}
Clock clock_from(const Json& f) {
  return {field<std::int64_t>(f, "sequence"), field<std::int64_t>(f, "clock_ns"), field<std::string>(f, "boot_id")};
}

Json to_json(const Outcome& m) {
  return {{"type", "outcome"},
          {"status", to_string(m.status)},
          {"detail", m.detail},
          {"stage", m.stage},
          {"phase", m.phase},
          {"step", m.step},
          {"verification", m.verification ? to_string(*m.verification) : ""},
          {"failed_ns", m.failed_ns}};
}

Outcome outcome_from(const Json& f) {
  Outcome m;
  m.status = reported_status(field<std::string>(f, "status"));
  m.detail = field<std::string>(f, "detail");
  m.stage = field<std::string>(f, "stage");
  m.phase = field<std::string>(f, "phase");
  m.step = field<std::int64_t>(f, "step");
  const auto verification = field<std::string>(f, "verification");
  if (!verification.empty()) m.verification = event::check_outcome_from(verification);
  m.failed_ns = field<std::int64_t>(f, "failed_ns");
  return m;
}

Json to_json(const Cancel&) { return {{"type", "cancel"}}; }
Json to_json(const Exit&) { return {{"type", "exit"}}; }

}  // namespace kymo::measure::protocol
