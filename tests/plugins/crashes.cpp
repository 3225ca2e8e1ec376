// SPDX-License-Identifier: Apache-2.0
// Terminates its process with a signal. SIGPIPE must not terminate it.
#include <csignal>

#include "fault_point.hpp"

namespace {

class Crashes final : public kymo::test::Misbehaving {
 public:
  static kymo::Descriptor describe() {
    return kymo::test::describe("crashes").param("signal", kymo::Choice{"segv", {"segv", "abort", "kill", "pipe"}},
                                                 "the signal that ends it");
  }
  explicit Crashes(kymo::Context& ctx) : Misbehaving(ctx), signal_(ctx.text("signal")) {
    if (is("create")) misbehave();
  }
  ~Crashes() noexcept(false) override {
    if (is("destroy")) misbehave();
  }

 protected:
  void misbehave() override { std::raise(number()); }

 private:
  int number() const {
    return signal_ == "segv" ? SIGSEGV : signal_ == "abort" ? SIGABRT : signal_ == "pipe" ? SIGPIPE : SIGKILL;
  }

  std::string signal_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Crashes)
