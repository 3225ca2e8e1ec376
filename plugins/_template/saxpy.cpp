// SPDX-License-Identifier: Apache-2.0
//
// A workload in one file: out = a * x + y on the CPU, without a framework.
// It shows everything that a workload usually needs; remove what yours does not.
//
//   cmake --workflow --preset default          builds build/saxpy.so
//   kymo describe build/saxpy.so               shows the contents of describe()
//   kymo run build/saxpy.so --set n=1000000    verifies it, times it, and stores the results
//
#include <cstddef>
#include <cstdint>
#include <kymo/workload.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

// The computation, independent of kymo: this makes it easier to test and keeps step() readable.
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

  // The same in the widest available type, as a reference for verify().
  std::vector<long double> reference(long double a) const {
    std::vector<long double> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) expected[i] = a * x[i] + y[i];
    return expected;
  }

  double bytes() const { return static_cast<double>((x.size() + y.size() + out.size()) * sizeof(T)); }
};

class Saxpy final : public kymo::Workload {
 public:
  // Declares the name, the parameters and their documentation, which `kymo list`, `kymo describe`, --set and reports
  // use. Names consist of lower-case letters, digits and '_'.
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"saxpy", "out = a * x + y on vectors in host memory"}
        .param("n", kymo::Int{1 << 20}.at_least(1).at_most(1 << 30).axis({1 << 16, 1 << 20, 1 << 24}).unit("elements"),
               "vector length")
        .param("a", kymo::Real{2.0}, "scalar factor of x")
        .param("precision", kymo::Choice{"fp32", {"fp32", "fp64"}}, "element type")
        .phases({"compute"})           // parts of a step that are timed separately
        .devices({kymo::Device::Cpu})  // add kymo::Device::Cuda if it is supported
        .asynchronous()  // step() does not wait for the device: it can be timed with --timing hot and cold
        .ranks(1);       // one or more ranks
  }

  // Never timed. Read parameters, allocate, initialize, and declare the work of a step.
  void prepare(kymo::Context& ctx) override {
    n_ = static_cast<std::size_t>(ctx.integer("n"));
    a_ = ctx.real("a");
    fp64_ = ctx.text("precision") == "fp64";

    // The seed is the same on every rank. Add ctx.rank() if ranks need different data.
    if (fp64_) {
      double_.fill(n_, ctx.seed());
    } else {
      single_.fill(n_, ctx.seed());
    }
    ctx.mark("vectors filled");  // a named point on the memory timeline

    const double bytes = fp64_ ? double_.bytes() : single_.bytes();
    ctx.work("compute", 2.0 * static_cast<double>(n_),
             bytes);                          // one multiply and one add per element; each vector is accessed once
    ctx.metric("footprint", bytes, "bytes");  // custom metric
  }

  // Timed repeatedly. Phases are timed separately and never nest; scopes name regions within them.
  void step(kymo::Context& ctx) override {
    auto phase = ctx.phase("compute");
    auto scope = ctx.scope(fp64_ ? "fp64" : "fp32");
    compute();
  }

  // Never timed. If verification fails, the run fails. If there is no reference, return
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

    // All ranks computed the same values, so the results must be bitwise equal. With one rank, this compares a value
    // with itself.
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

// A file may contain several workloads: KYMO_EXPORT_WORKLOADS(First, Second).
KYMO_EXPORT_WORKLOADS(Saxpy)
