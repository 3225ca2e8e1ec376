// SPDX-License-Identifier: Apache-2.0
// Plugins loaded into this process and called through their function tables.
#include <kymo_plugin.h>

#include "base/error.hpp"
#include "fixture.hpp"
#include "unit/sdk/fake_host.hpp"

namespace kymo::catalog::test {
namespace {

using kymo::test::FakeHost;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class Load : public InFolder {
 protected:
  const kymo_workload* load(const std::string& name) {
    const auto* table = static_cast<const kymo_plugin*>(load_plugin(plugin(name)));
    return table->workload(0);
  }
  /// prepare, two steps, verify, destroy; returns the outcome of the first check.
  std::uint32_t drive(const kymo_workload* workload, FakeHost& host) {
    void* instance = nullptr;
    EXPECT_EQ(workload->create(workload, &host.table(), host.context(), &instance), KYMO_OK);
    EXPECT_EQ(workload->prepare(instance, host.context()), KYMO_OK);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(workload->before_step(instance, host.context()), KYMO_OK);
      EXPECT_EQ(workload->step(instance, host.context()), KYMO_OK);
    }
    kymo_verification found{sizeof(kymo_verification), 0, nullptr};
    EXPECT_EQ(workload->verify(instance, host.context(), &found), KYMO_OK);
    const std::uint32_t outcome = found.check_count > 0 ? found.checks[0].outcome : 0;
    workload->destroy(instance);
    return outcome;
  }
};

TEST_F(Load, DrivesAPluginInPlainC) {
  FakeHost host;
  host.set("n", std::int64_t{100});
  EXPECT_EQ(drive(load("raw_valid"), host), std::uint32_t{KYMO_CHECK_PASSED});
  EXPECT_THAT(host.said, Contains("phase compute"));
}

TEST_F(Load, DrivesTheTemplate) {
  const auto* table = static_cast<const kymo_plugin*>(
      load_plugin(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "plugins" / "saxpy.so"));
  for (const char* precision : {"fp32", "fp64"}) {
    FakeHost host;
    host.placement.world_size = 2;
    host.set("n", std::int64_t{1000});
    host.set("a", 2.5);
    host.set("precision", precision);
    EXPECT_EQ(drive(table->workload(0), host), std::uint32_t{KYMO_CHECK_PASSED}) << precision;
    EXPECT_THAT(host.said, Contains(HasSubstr("work compute 2000.0")));
  }
}

// The C table of `throws`: each function that throws returns a status, and the host receives the message.
TEST_F(Load, NoExceptionLeavesAPlugin) {
  const kymo_workload* workload = load("throws");
  const auto status_of = [&](const std::string& where, FakeHost& host) {
    host.set("where", where.c_str());
    host.set("what", "exception");
    host.set("from_step", std::int64_t{0});
    void* instance = nullptr;
    kymo_verification found{sizeof(kymo_verification), 0, nullptr};
    kymo_status status = workload->create(workload, &host.table(), host.context(), &instance);
    if (status == KYMO_OK) status = workload->prepare(instance, host.context());
    if (status == KYMO_OK) status = workload->before_step(instance, host.context());
    if (status == KYMO_OK) status = workload->step(instance, host.context());
    if (status == KYMO_OK) status = workload->verify(instance, host.context(), &found);
    workload->destroy(instance);
    return status;
  };
  for (const char* where : {"create", "prepare", "before_step", "step", "verify"}) {
    FakeHost host;
    EXPECT_EQ(status_of(where, host), KYMO_FAILED) << where;
    EXPECT_THAT(host.said, Contains(HasSubstr("fail 1 thrown on purpose"))) << where;
  }
  FakeHost host;
  EXPECT_EQ(status_of("destroy", host), KYMO_OK);
  EXPECT_THAT(host.said, Contains(HasSubstr("destructor threw: thrown on purpose")));
}

TEST_F(Load, LoadsTheSameFileTwice) { EXPECT_EQ(load("probe"), load("probe")); }

TEST_F(Load, LoadsNoPluginOfAnOlderInterface) {
  EXPECT_THAT(message_of([] { load_plugin(plugin("older_major")); }),
              AllOf(HasSubstr("ABI 1.4"), HasSubstr("this kymo supports 2.1")));
}

TEST_F(Load, LoadsAPluginOfAnOlderMinorVersion) { EXPECT_NO_THROW(load_plugin(plugin("older_minor"))); }

TEST_F(Load, RejectsWhatHasNoTable) {
  EXPECT_THAT(message_of([] { load_plugin(plugin("no_symbol")); }), HasSubstr("does not export kymo_plugin_v2"));
  EXPECT_THAT(message_of([] { load_plugin(plugin("null_table")); }), HasSubstr("no table"));
  EXPECT_THAT(message_of([] { load_plugin(plugin("framework_differs_in_table")); }), HasSubstr("'libtorch'"));
  EXPECT_THAT(message_of([&] { load_plugin(folder_ / "absent.so"); }), HasSubstr("No such file"));
}

}  // namespace
}  // namespace kymo::catalog::test
