// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <functional>
#include <string>
#include <vector>

namespace kymo::worker {

/// The host services as seen by a workload.
struct FakeHost {
  const kymo_host* host = nullptr;
  kymo_context* context = nullptr;

  kymo_status begin(const char* phase) const { return host->phase_begin(context, phase, nullptr); }
  kymo_status end() const { return host->phase_end(context); }
  kymo_status phase(const char* name) const {
    return begin(name) == KYMO_OK ? end() : static_cast<kymo_status>(KYMO_FAILED);
  }
  kymo_status fail(kymo_status status, const char* message) const {
    host->fail(context, status, message);
    return status;
  }
};

/// A plugin table without a library: the test sets the behavior of its functions. One at a time.
class FakeWorkload {
 public:
  explicit FakeWorkload(std::vector<const char*> phases = {});
  ~FakeWorkload();
  FakeWorkload(const FakeWorkload&) = delete;
  FakeWorkload& operator=(const FakeWorkload&) = delete;

  const kymo_plugin& plugin() const { return plugin_; }
  kymo_workload& table() { return workload_; }

  /// Each stage succeeds unless a test sets otherwise.
  std::function<kymo_status(const FakeHost&)> on_create;
  std::function<kymo_status(const FakeHost&)> on_prepare;
  std::function<kymo_status(const FakeHost&)> on_before_step;
  std::function<kymo_status(const FakeHost&)> on_step;
  std::function<kymo_status(const FakeHost&, kymo_verification&)> on_verify;
  std::function<void()> on_destroy;

  /// Names of the stages in the order in which they were called.
  std::vector<std::string> calls;
  std::int64_t count(const std::string& stage) const;

  std::vector<kymo_parameter> parameters;
  /// Call after setting the parameters.
  void publish_parameters();

 private:
  static kymo_status create(const kymo_workload* workload, const kymo_host* host, kymo_context* context,
                            void** instance);
  static kymo_status prepare(void* instance, kymo_context* context);
  static kymo_status before_step(void* instance, kymo_context* context);
  static kymo_status step(void* instance, kymo_context* context);
  static kymo_status verify(void* instance, kymo_context* context, kymo_verification* out);
  static void destroy(void* instance);
  kymo_status go(const char* stage, const std::function<kymo_status(const FakeHost&)>& script);

  std::vector<const char*> phases_;
  kymo_workload workload_{};
  kymo_plugin plugin_{};
  FakeHost host_;
};

}  // namespace kymo::worker
