// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/other_client.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::collect {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(OtherClient, IsNamedByItsLibrary) {
  ProfilerTraces traces;
  traces.maps =
      "7f00-7f01 r-xp 00000000 08:01 1 /opt/nsight/target-linux-x64/libToolsInjection64.so\n"
      "7f01-7f02 r--p 00000000 08:01 1 /opt/nsight/target-linux-x64/libToolsInjection64.so\n"
      "7f03-7f04 r-xp 00000000 08:01 2 /usr/lib/libc.so.6\n"
      "7f05-7f06 rw-p 00000000 00:00 0 \n";
  EXPECT_EQ(name_other_client(traces), "Nsight Systems ('libToolsInjection64.so')");
}

TEST(OtherClient, IsNamedByTheEnvironment) {
  ProfilerTraces traces;
  traces.cuda_injection = "/opt/tool/libtool.so";
  traces.injection_libraries = {"/opt/tool/libtool.so"};
  EXPECT_EQ(name_other_client(traces), "'/opt/tool/libtool.so' (CUDA_INJECTION64_PATH)") << "once";
}

TEST(OtherClient, AnyInjectedLibraryIsNamed) {
  ProfilerTraces traces;
  traces.injection_libraries = {"/a/one.so", "/b/two.so"};
  EXPECT_EQ(name_other_client(traces), "an injected library '/a/one.so', an injected library '/b/two.so'");
}

TEST(OtherClient, ListenersToNvtxAreALastGuess) {
  ProfilerTraces traces;
  traces.nvtx_injection = "/n.so";
  EXPECT_EQ(name_other_client(traces), "'/n.so' (NVTX_INJECTION64_PATH)");
  traces.cuda_injection = "/c.so";
  EXPECT_THAT(name_other_client(traces), Not(HasSubstr("/n.so")));
}

TEST(OtherClient, WithoutATraceItIsSaidSo) {
  EXPECT_EQ(name_other_client({}), "another CUPTI client in this process");
  ProfilerTraces traces;
  traces.maps = "garbage\n\n/\n7f00 /usr/lib/libcupti.so.13\n7f00 /usr/lib/libnvperf_host.so\n";
  EXPECT_EQ(name_other_client(traces), "another CUPTI client in this process") << "these are our own";
}

TEST(OtherClient, HostileNamesStayInOneLine) {
  ProfilerTraces traces;
  traces.cuda_injection = "/tmp/a\nb\x1b[31m.so";
  traces.maps = "7f00-7f01 r-xp 0 0 0 /tmp/libkineto\x07'.so\n";
  const std::string name = name_other_client(traces);
  EXPECT_THAT(name, AllOf(HasSubstr("Kineto"), Not(HasSubstr("\n")), Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
}

TEST(OtherClient, FindsInjectedLibrariesOfThisProcess) {
  EXPECT_THAT(profiler_traces().injection_libraries, Not(Contains(EndsWith("libcupti.so.13"))));
  void* library = dlopen(KYMO_BINARY_DIR "/tests/modules/collect_injected.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const ProfilerTraces traces = profiler_traces();
  EXPECT_THAT(traces.injection_libraries, Contains(EndsWith("/collect_injected.so")));
  EXPECT_THAT(traces.maps, HasSubstr("collect_injected.so"));
  dlclose(library);
}

}  // namespace
}  // namespace kymo::collect
