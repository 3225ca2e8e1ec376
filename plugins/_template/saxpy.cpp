// SPDX-License-Identifier: Apache-2.0
//
// A workload in one file: out = a * x + y on the CPU, with no framework.
// It shows everything that a workload usually needs; take out what yours does not.
//
//   cmake --workflow --preset default            builds build/saxpy.so
//   kymo describe build/saxpy.so                shows what describe() says
//   kymo run build/saxpy.so --set n=1000000   verifies it, times it, and stores both
//
#include <cstddef>
#include <cstdint>
#include <kymo/workload.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

// The arithmetic, apart from what kymo needs: it is easier to test, and step() stays readable.
template <typename T>
struct Vectors {
  std::vector<T> x, y, out;

  void fill(std::size_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<T> between(-1, 1);
    x.resize(n);
    y.resize(n);
    out.assign(n, 0);
    for (T& value : x) value = between(random);
    for (T& value : y) value = between(random);
  }

  void compute(T a) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = a * x[i] + y[i];
  }

  // The same in the widest type there is: what verify() compares with.
  std::vector<long double> reference(long double a) const {
    std::vector<long double> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) expected[i] = a * x[i] + y[i];
    return expected;
  }

  double bytes() const { return static_cast<double>((x.size() + y.size() + out.size()) * sizeof(T)); }
};

class Saxpy final : public kymo::Workload {
 public:
  // The single source of the name, the parameters and their documentation: `kymo list`, `kymo describe`, --set and
  // reports read it. Names are lower-case letters, digits and '_'.
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"saxpy", "out = a * x + y on vectors in host memory"}
        .param("n", kymo::Int{1 << 20}.at_least(1).at_most(1 << 30).axis({1 << 16, 1 << 20, 1 << 24}).unit("elements"),
               "vector length")
        .param("a", kymo::Real{2.0}, "scalar factor of x")
        .param("precision", kymo::Choice{"fp32", {"fp32", "fp64"}}, "element type")
        .phases({"compute"})           // the parts of a step that get a time of their own
        .devices({kymo::Device::Cpu})  // add kymo::Device::Cuda if it runs there too
        .asynchronous()                // step() waits for no device: it can be timed with --mode hot and cold
        .ranks(1);                     // from one rank to any number
  }

  // Never timed. Read parameters, allocate, initialise, and say how much work a step is.
  void prepare(kymo::Context& ctx) override {
    n_ = static_cast<std::size_t>(ctx.integer("n"));
    a_ = ctx.real("a");
    fp64_ = ctx.text("precision") == "fp64";

    // The seed is the same on every rank. Add ctx.rank() to it where ranks must differ.
    if (fp64_) {
      double_.fill(n_, ctx.seed());
    } else {
      single_.fill(n_, ctx.seed());
    }
    ctx.mark("vectors filled");  // a named moment on the memory timeline

    const double bytes = fp64_ ? double_.bytes() : single_.bytes();
    ctx.work("compute", 2.0 * static_cast<double>(n_),
             bytes);  // one multiplication and one addition per element; every vector passes once
    ctx.metric("footprint", bytes, "bytes");  // any figure of your own
  }

  // Timed, again and again. Phases are timed on their own and never nest; scopes name regions inside them.
  void step(kymo::Context& ctx) override {
    auto phase = ctx.phase("compute");
    auto scope = ctx.scope(fp64_ ? "fp64" : "fp32");
    compute();
  }

  // Never timed. A fast wrong answer is a failed run. To say that there is no reference:
  // kymo::Verification::unavailable("why").
  kymo::Verification verify(kymo::Context& ctx) override {
    compute();
    kymo::Verification result;
    const std::string reference = "computed in long double";
    if (fp64_) {
      result.compare("out", reference, double_.out, double_.reference(a_), 1e-14);
    } else {
      result.compare("out", reference, single_.out, single_.reference(static_cast<float>(a_)), 1e-6);
    }

    // Ranks computed the same thing, so they must agree to the last bit. With one rank this compares a value with
    // itself.
    const std::vector<double> sums = ctx.all_gather(checksum());
    result.compare("ranks agree", "rank 0", sums, std::vector<double>(sums.size(), sums.front()), 0);
    return result;
  }

 private:
  void compute() {
    if (fp64_) {
      double_.compute(a_);
    } else {
      single_.compute(static_cast<float>(a_));
    }
  }

  double checksum() const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += fp64_ ? double_.out[i] : static_cast<double>(single_.out[i]);
    return sum;
  }

  std::size_t n_ = 0;
  double a_ = 0;
  bool fp64_ = false;
  Vectors<float> single_;
  Vectors<double> double_;
};

}  // namespace

// A file may hold several workloads: KYMO_EXPORT_WORKLOADS(First, Second).
KYMO_EXPORT_WORKLOADS(Saxpy)
