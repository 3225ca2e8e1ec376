// SPDX-License-Identifier: Apache-2.0
// Never returns.
#include <unistd.h>

#include <csignal>

#include "fault_point.hpp"

namespace {

class Hangs final : public kymo::test::Misbehaving {
 public:
  static kymo::Descriptor describe() {
    return kymo::test::describe("hangs").param("ignore_signals", kymo::Bool{false}, "also ignore SIGTERM and SIGINT");
  }
  explicit Hangs(kymo::Context& ctx) : Misbehaving(ctx), ignore_signals_(ctx.boolean("ignore_signals")) {
    if (is("create")) misbehave();
  }
  ~Hangs() noexcept(false) override {
    if (is("destroy")) misbehave();
  }

 protected:
  void misbehave() override {
    if (ignore_signals_) {
      for (const int number : {SIGTERM, SIGINT}) std::signal(number, SIG_IGN);
    }
    for (;;) pause();
  }

 private:
  bool ignore_signals_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Hangs)
