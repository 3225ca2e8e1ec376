// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "gpu/trace_test.hpp"

namespace kymo::collect {
namespace {

using testing::HasSubstr;

constexpr const char* kOtherClient = KYMO_BINARY_DIR "/tests/modules/other_cupti_client.so";

class OtherClientTest : public TraceTest {
 protected:
  /// Runs a step with a kernel. Returns whether the phase has a device time.
  bool step_is_timed() {
    DeviceTimer* timer = module_->timer(*collector_);
    std::vector<std::int64_t> phase_ns(1, -1);
    std::int64_t whole_ns = -1;
    collector_->step_begin(0);
    collector_->phase_begin(0, nullptr);
    kernels_.launch(1);
    collector_->phase_end();
    timer->synchronize();
    timer->take_step(phase_ns, whole_ns);
    return phase_ns[0] > 0;
  }
};

TEST_F(OtherClientTest, IsNamedAndThePassGoesOnWithEvents) {
  void* client = dlopen(kOtherClient, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(client, nullptr) << dlerror();
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(client, "InitializeInjection"));
  const auto is_there = reinterpret_cast<int (*)()>(dlsym(client, "kymo_other_client_is_there"));
  const auto leave = reinterpret_cast<void (*)()>(dlsym(client, "kymo_other_client_leaves"));
  ASSERT_TRUE(initialize && is_there && leave);
  initialize();
  ASSERT_EQ(is_there(), 1);
  arm();
  EXPECT_TRUE(step_is_timed());
  const event::PassRecord record = disarm();
  EXPECT_EQ(record.trace_status, "events only");
  EXPECT_THAT(all_dropped_records(record), HasSubstr("other_cupti_client.so"));
  EXPECT_TRUE(record.trace.activities.empty());
  EXPECT_TRUE(record.trace.launches.empty());

  leave();
  arm();
  ASSERT_EQ(kernels_.launch(1), cudaSuccess);
  const event::PassRecord free = disarm();
  EXPECT_EQ(free.trace_status, "") << "CUPTI is available to the next pass";
  EXPECT_EQ(named(free, "planted").size(), 1u);
}

TEST_F(OtherClientTest, InjectedByCudaItIsNamedToo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // CUDA reads its environment once, during initialization
  const auto in_a_process_of_its_own = [this] {
    setenv("CUDA_INJECTION64_PATH", kOtherClient, 1);
    arm();
    const bool timed = step_is_timed();
    const event::PassRecord record = disarm();
    std::fprintf(stderr, "trace_status '%s', timed %d, dropped records: %s", record.trace_status.c_str(), timed,
                 all_dropped_records(record).c_str());
    // CUDA determines which client comes first: either the other client is named, or the kernel is recorded.
    const bool named_it = record.trace_status == "events only" &&
                          all_dropped_records(record).find("CUDA_INJECTION64_PATH") != std::string::npos;
    const bool recorded = record.trace_status.empty() && named(record, "planted").size() == 1;
    std::_Exit(timed && collector_->wants_scopes() && (named_it || recorded) ? 0 : 1);
  };
  EXPECT_EXIT(in_a_process_of_its_own(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kymo::collect
