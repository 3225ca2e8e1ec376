// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace kymo::test {

/// A host that records everything it is told, one line per call.
class FakeHost {
 public:
  FakeHost() {
    table_.size = sizeof(kymo_host);
    table_.abi_major = KYMO_ABI_MAJOR;
    table_.abi_minor = KYMO_ABI_MINOR;
    table_.parameter = [](kymo_context* context, const char* name, kymo_value* out) -> kymo_status {
      const auto at = self(context).parameters.find(name);
      if (at == self(context).parameters.end()) return KYMO_FAILED;
      *out = at->second;
      return KYMO_OK;
    };
    table_.placement = [](kymo_context* context) -> const kymo_placement* { return &self(context).placement; };
    table_.seed = [](kymo_context*) -> std::uint64_t { return 7; };
    table_.phase_begin = [](kymo_context* context, const char* name, void*) -> kymo_status {
      self(context).say(std::string("phase ") + name);
      return self(context).reject_phases ? KYMO_FAILED : KYMO_OK;
    };
    table_.phase_end = [](kymo_context* context) -> kymo_status { return self(context).say("phase end"), KYMO_OK; };
    table_.scope_begin = [](kymo_context* context, const char* name) {
      self(context).say(std::string("scope ") + name);
    };
    table_.scope_end = [](kymo_context* context) { self(context).say("scope end"); };
    table_.work = [](kymo_context* context, const char* phase, double flops, double bytes) {
      self(context).say(std::string("work ") + phase + " " + std::to_string(flops) + " " + std::to_string(bytes));
    };
    table_.metric_number = [](kymo_context* context, std::uint32_t level, const char* name, double value,
                              const char* unit) {
      self(context).say("metric " + std::to_string(level) + " " + name + " " + std::to_string(value) + " " + unit);
    };
    table_.metric_text = [](kymo_context* context, std::uint32_t level, const char* name, const char* value) {
      self(context).say("metric " + std::to_string(level) + " " + name + " '" + value + "'");
    };
    table_.mark = [](kymo_context* context, const char* name) { self(context).say(std::string("mark ") + name); };
    table_.tag = [](kymo_context* context, const void*, std::uint64_t bytes, std::uint32_t category) {
      self(context).say("tag " + std::to_string(bytes) + " " + std::to_string(category));
    };
    table_.collective_begin = [](kymo_context* context, const kymo_collective* call) -> std::uint64_t {
      std::string line = "collective " + std::to_string(call->operation) + " " + std::to_string(call->bytes);
      if (call->size > offsetof(kymo_collective, communicator)) {
        line +=
            std::string(" ") + (call->communicator ? call->communicator : "-") + " " + std::to_string(call->sequence);
      }
      self(context).say(std::move(line));
      return self(context).next_handle++;
    };
    table_.collective_end = [](kymo_context* context, std::uint64_t handle) {
      self(context).say("collective end " + std::to_string(handle));
    };
    table_.all_gather_bytes = [](kymo_context* context, const void* send, std::uint64_t bytes,
                                 void* recv) -> kymo_status {
      for (int rank = 0; rank < self(context).placement.world_size; ++rank)
        std::memcpy(static_cast<char*>(recv) + rank * bytes, send, bytes);
      return self(context).reject_gather ? KYMO_FAILED : KYMO_OK;
    };
    table_.log = [](kymo_context* context, std::uint32_t level, const char* message) {
      self(context).say("log " + std::to_string(level) + " " + message);
    };
    table_.skip = [](kymo_context* context, const char* reason) { self(context).say(std::string("skip ") + reason); };
    table_.fail = [](kymo_context* context, kymo_status status, const char* message) {
      self(context).say("fail " + std::to_string(status) + " " + message);
    };
    table_.cancelled = [](kymo_context* context) -> std::int32_t { return self(context).is_cancelled; };
  }

  kymo_context* context() { return reinterpret_cast<kymo_context*>(this); }
  kymo_host& table() { return table_; }
  void set(const std::string& name, std::int64_t value) { parameters[name] = {KYMO_INT, 0, value, 0, nullptr}; }
  void set(const std::string& name, double value) { parameters[name] = {KYMO_REAL, 0, 0, value, nullptr}; }
  void set(const std::string& name, bool value) { parameters[name] = {KYMO_BOOL, value, 0, 0, nullptr}; }
  void set(const std::string& name, const char* value) { parameters[name] = {KYMO_CHOICE, 0, 0, 0, value}; }

  std::map<std::string, kymo_value> parameters;
  kymo_placement placement{sizeof(kymo_placement), 0, 1, 0, KYMO_CPU, 0, "127.0.0.1", 0, 0};
  std::uint64_t next_handle = 77;
  bool reject_phases = false;
  bool reject_gather = false;
  std::int32_t is_cancelled = 0;
  std::vector<std::string> said;

 private:
  static FakeHost& self(kymo_context* context) { return *reinterpret_cast<FakeHost*>(context); }
  void say(std::string line) { said.push_back(std::move(line)); }
  kymo_host table_{};
};

}  // namespace kymo::test
