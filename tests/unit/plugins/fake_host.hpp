// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

/// A host within the test: it returns the given parameters on the CPU and records what a workload reports.
class FakeHost {
 public:
  using Value = std::variant<std::int64_t, double, bool, std::string>;

  FakeHost() {
    placement_.size = sizeof placement_;
    placement_.world_size = 1;
    placement_.device = KYMO_CPU;
    placement_.rendezvous_host = "";
    host_.size = sizeof host_;
    host_.abi_major = KYMO_ABI_MAJOR;
    host_.abi_minor = KYMO_ABI_MINOR;
    host_.placement = [](kymo_context* ctx) -> const kymo_placement* { return &self(ctx).placement_; };
    host_.seed = [](kymo_context*) -> std::uint64_t { return 11; };
    host_.parameter = [](kymo_context* ctx, const char* name, kymo_value* out) { return self(ctx).answer(name, out); };
    host_.phase_begin = [](kymo_context* ctx, const char* name, void*) -> kymo_status {
      self(ctx).phases.emplace_back(name);
      return KYMO_OK;
    };
    host_.phase_end = [](kymo_context*) -> kymo_status { return KYMO_OK; };
    host_.scope_begin = [](kymo_context* ctx, const char* name) {
      self(ctx).scopes.emplace_back(name);
      ++self(ctx).open_scopes;
    };
    host_.scope_end = [](kymo_context* ctx) { --self(ctx).open_scopes; };
    host_.work = [](kymo_context* ctx, const char* phase, double flops, double bytes) {
      self(ctx).work[phase] = {flops, bytes};
    };
    host_.metric_number = [](kymo_context* ctx, std::uint32_t, const char* name, double value, const char*) {
      self(ctx).numbers[name] = value;
    };
    host_.metric_text = [](kymo_context* ctx, std::uint32_t, const char* name, const char* value) {
      self(ctx).texts[name] = value;
    };
    host_.tag = [](kymo_context* ctx, const void*, std::uint64_t bytes, std::uint32_t category) {
      self(ctx).tagged_bytes[category] += bytes;
    };
    host_.mark = [](kymo_context* ctx, const char* name) { self(ctx).marks.emplace_back(name); };
    host_.skip = [](kymo_context* ctx, const char* reason) { self(ctx).message = reason; };
    host_.fail = [](kymo_context* ctx, kymo_status, const char* what) { self(ctx).message = what; };
    host_.log = [](kymo_context* ctx, std::uint32_t, const char* line) { self(ctx).logged.emplace_back(line); };
  }

  const kymo_host* host() const { return &host_; }
  void use_device(std::int32_t device) { placement_.device = device; }
  /// Provides only the functions of the time pass.
  void record_times_only() {
    host_.scope_begin = nullptr;
    host_.scope_end = nullptr;
    host_.tag = nullptr;
  }
  kymo_context* handle() { return reinterpret_cast<kymo_context*>(this); }

  std::map<std::string, Value> parameters;
  std::vector<std::string> phases, scopes, marks, logged;
  int open_scopes = 0;
  std::map<std::string, std::pair<double, double>> work;  ///< FLOPs and bytes by phase
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::uint32_t, std::uint64_t> tagged_bytes;
  std::string message;

 private:
  static FakeHost& self(kymo_context* ctx) { return *reinterpret_cast<FakeHost*>(ctx); }

  kymo_status answer(const std::string& name, kymo_value* out) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) return KYMO_FAILED;
    *out = {};
    if (const auto* integer = std::get_if<std::int64_t>(&found->second)) out->type = KYMO_INT, out->integer = *integer;
    if (const auto* real = std::get_if<double>(&found->second)) out->type = KYMO_REAL, out->real = *real;
    if (const auto* boolean = std::get_if<bool>(&found->second)) out->type = KYMO_BOOL, out->boolean = *boolean ? 1 : 0;
    if (const auto* text = std::get_if<std::string>(&found->second)) out->type = KYMO_TEXT, out->text = text->c_str();
    return KYMO_OK;
  }

  kymo_host host_{};
  kymo_placement placement_{};
};
