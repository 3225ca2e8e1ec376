// SPDX-License-Identifier: Apache-2.0
// Misbehaves or takes long in describe(), or prints while the library is loaded.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <kymo/workload.hpp>
#include <stdexcept>

namespace {

[[maybe_unused]] void flood() {
  for (int i = 0; i < 2'000'000; ++i) std::puts("{\"name\": \"not the answer\"}");
  std::fflush(stdout);
}

void misbehave() {
#if defined(DESCRIBE_crashes)
  std::raise(SIGSEGV);
#elif defined(DESCRIBE_hangs)
  for (;;) pause();
#elif defined(DESCRIBE_spins)
  while (getppid() != 0) {
  }
#elif defined(DESCRIBE_sleeps)
  sleep(1);
#elif defined(DESCRIBE_exits)
  std::exit(0);
#elif defined(DESCRIBE_floods)
  flood();
#elif defined(DESCRIBE_throws)
  throw std::runtime_error("no description today");
#elif defined(DESCRIBE_prints)
  std::puts("hello from describe()");
#endif
}

#if defined(DESCRIBE_prints)
struct StartupPrinter {
  StartupPrinter() {
    std::puts("{\"hello\": \"from a static constructor\"}");
    std::fflush(stdout);
  }
  ~StartupPrinter() { std::puts("good bye"); }
} startup_printer;
#endif

class Misbehaves final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    misbehave();
    return kymo::Descriptor{KYMO_PLUGIN_NAME, "misbehaves while it is described"}.phases({"compute"});
  }
  void step(kymo::Context& ctx) override { auto phase = ctx.phase("compute"); }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Misbehaves)
