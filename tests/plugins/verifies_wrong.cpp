// SPDX-License-Identifier: Apache-2.0
// Returns results of verify() that a host must not treat as "passed".
#include <kymo/workload.hpp>
#include <limits>
#include <string>
#include <vector>

namespace {

class VerifiesWrong final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{KYMO_PLUGIN_NAME, "is not verified"}
        .param("how", kymo::Choice{"mixed", {"failed", "nan", "mixed", "unavailable", "nothing", "passed"}},
               "what verify() answers")
        .phases({"compute"});
  }
  void prepare(kymo::Context& ctx) override { how_ = ctx.text("how"); }
  void step(kymo::Context& ctx) override { auto phase = ctx.phase("compute"); }
  kymo::Verification verify(kymo::Context&) override {
    const std::vector<double> right{1, 2, 3};
    const std::vector<double> wrong{1, 2, 4};
    const std::vector<double> nan{1, 2, std::numeric_limits<double>::quiet_NaN()};
    if (how_ == "failed") return kymo::Verification{}.compare("sum", "by hand", wrong, right, 1e-6);
    if (how_ == "nan") return kymo::Verification{}.compare("sum", "by hand", nan, right, 1e-6);
    if (how_ == "mixed")
      return kymo::Verification{}
          .compare("first", "by hand", right, right, 0)
          .compare("second", "by hand", wrong, right, 0);
    if (how_ == "unavailable") return kymo::Verification::unavailable("the reference needs more memory than there is");
    if (how_ == "passed") return kymo::Verification{}.compare("sum", "by hand", right, right, 0);
    return {};
  }

 private:
  std::string how_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(VerifiesWrong)
