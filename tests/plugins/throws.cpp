// SPDX-License-Identifier: Apache-2.0
// Throws an exception, an int, or an out-of-memory error in a selected function.
#include <new>
#include <stdexcept>

#include "fault_point.hpp"

namespace c10 {
// Has the name of LibTorch's exception for out of device memory.
struct OutOfMemoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace c10

namespace {

class Throws final : public kymo::test::Misbehaving {
 public:
  static kymo::Descriptor describe() {
    return kymo::test::describe("throws").param(
        "what", kymo::Choice{"exception", {"exception", "number", "bad_alloc", "torch_oom"}}, "what is thrown");
  }
  explicit Throws(kymo::Context& ctx) : Misbehaving(ctx), what_(ctx.text("what")) {
    if (is("create")) misbehave();
  }
  ~Throws() noexcept(false) override {
    if (is("destroy")) misbehave();
  }

 protected:
  void misbehave() override {
    if (what_ == "number") throw 42;
    if (what_ == "bad_alloc") throw std::bad_alloc();
    if (what_ == "torch_oom") throw c10::OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB");
    throw std::runtime_error("thrown on purpose, with 'quotes' and\na second line");
  }

 private:
  std::string what_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Throws)
