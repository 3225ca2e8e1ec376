// SPDX-License-Identifier: Apache-2.0
// Allocates and touches host memory until it is killed or reaches its own limit.
#include <unistd.h>

#include <cstring>
#include <new>
#include <vector>

#include "fault_point.hpp"

namespace {

constexpr std::int64_t kBlockMebibytes = 16;

class Leaks final : public kymo::test::Misbehaving {
 public:
  static kymo::Descriptor describe() {
    return kymo::test::describe("takes memory")
        .param("most", kymo::Int{2048}.at_least(0).unit("MiB"), "where it stops and throws std::bad_alloc");
  }
  explicit Leaks(kymo::Context& ctx) : Misbehaving(ctx), max_(ctx.integer("most")) {
    if (is("create")) misbehave();
  }
  ~Leaks() noexcept(false) override {
    if (is("destroy")) misbehave();
  }

 protected:
  void misbehave() override {
    for (std::int64_t taken = 0; taken < max_; taken += kBlockMebibytes) {
      blocks_.emplace_back(static_cast<std::size_t>(kBlockMebibytes) << 20, 'x');
      usleep(5000);  // slow enough to be observed, fast enough for a test
    }
    throw std::bad_alloc();
  }

 private:
  std::int64_t max_;
  std::vector<std::vector<char>> blocks_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Leaks)
