// SPDX-License-Identifier: Apache-2.0
#include "worker/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "unit/hang.hpp"

namespace kymo::worker {
namespace {

using testing::HasSubstr;

Devices answer_of(const std::string& script, double deadline_s = kymo::kHang_s) {
  SpawnOptions command;
  command.command = {"/bin/sh", "-c", script};
  return request_devices(command, deadline_s);
}

TEST(Devices, PrintsWhatTheProbeReads) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(print_devices(true), 0);
  const std::string text = testing::internal::GetCapturedStdout();
  const Json printed = parse_json(text, "devices");
  EXPECT_EQ(printed.at("cpu").at("kind"), "cpu");
  EXPECT_EQ(printed.at("gpus").empty(), !printed.at("no_gpu_reason").get<std::string>().empty());
  const Devices read = answer_of("cat <<'END'\n" + text + "END");
  EXPECT_EQ(read.gpus.size(), printed.at("gpus").size());
  EXPECT_EQ(read.no_gpu_reason, printed.at("no_gpu_reason").get<std::string>());
  EXPECT_EQ(read.counter_problems.size(), read.gpus.size());
  EXPECT_FALSE(read.cpu.uuid.empty());
}

TEST(Devices, ReadsGpus) {
  const Devices devices = answer_of(
      R"(echo '{"gpus": [{"uuid": "GPU-1", "kind": "cuda", "name": "H200", "memory_bytes": 5, "multiprocessors": 132,
      "max_sm_clock_mhz": 1980, "max_memory_clock_mhz": null, "multiprocessor_threads": 2048,
      "multiprocessor_blocks": 32, "multiprocessor_registers": 65536, "multiprocessor_shared_bytes": 233472,
      "reserved_shared_bytes": null, "index": 0}], "no_gpu_reason": "",
      "driver_version": "580.1", "counter_problems": ["no permission; run as root"]}')");
  ASSERT_EQ(devices.gpus.size(), 1u);
  EXPECT_EQ(devices.gpus[0].multiprocessors, 132);
  EXPECT_EQ(devices.gpus[0].multiprocessor_threads, 2048);
  EXPECT_FALSE(devices.gpus[0].reserved_shared_bytes);
  EXPECT_FALSE(devices.gpus[0].max_memory_clock_mhz);
  EXPECT_EQ(devices.driver_version, "580.1");
  EXPECT_EQ(devices.no_gpu_reason, "");
  EXPECT_EQ(devices.counter_problems, std::vector<std::string>{"no permission; run as root"});
}

TEST(Devices, EveryFailureBecomesAReason) {
  EXPECT_THAT(answer_of("echo broken >&2; exit 4").no_gpu_reason, HasSubstr("broken"));
  EXPECT_THAT(answer_of("kill -SEGV $$").no_gpu_reason, HasSubstr("signal 11"));
  EXPECT_THAT(answer_of("echo no json").no_gpu_reason, HasSubstr("failed"));
  EXPECT_THAT(answer_of("echo '{}'").no_gpu_reason, HasSubstr("failed"));
  EXPECT_THAT(answer_of("echo '{\"gpus\": [{\"uuid\": 1}]}'").no_gpu_reason, HasSubstr("failed"));
  EXPECT_THAT(answer_of("sleep 30", 0.05).no_gpu_reason, HasSubstr("did not finish"));
  SpawnOptions missing;
  missing.command = {"/no/such/program"};
  EXPECT_FALSE(request_devices(missing, 5).no_gpu_reason.empty());
  EXPECT_EQ(answer_of("exit 4").cpu.kind, "cpu") << "the CPU is known all the same";
}

}  // namespace
}  // namespace kymo::worker
