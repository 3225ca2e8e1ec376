// SPDX-License-Identifier: Apache-2.0
#include "reference.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

namespace kymo::flash::test {
namespace {

/// The data of one key/value head and its group of query heads; no other thread writes to it.
class Head {
 public:
  Head(const Case& test, Reference& out, int64_t batch, int64_t head_kv)
      : test_(test),
        p_(test.problem),
        out_(out),
        kv_(static_cast<size_t>((batch * p_.heads_kv + head_kv) * p_.seq_k * p_.d)) {
    const int64_t group = p_.heads_q / p_.heads_kv;
    probability_.resize(static_cast<size_t>(p_.seq_k));
    for (int64_t head = head_kv * group; head < (head_kv + 1) * group; ++head)
      for (int64_t row = 0; row < p_.seq_q; ++row)
        one_row(static_cast<size_t>((batch * p_.heads_q + head) * p_.seq_q + row), row);
  }

 private:
  double dot(const std::vector<double>& a, size_t a_at, const std::vector<double>& b, size_t b_at) const {
    double sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(p_.d); ++i) sum += a[a_at + i] * b[b_at + i];
    return sum;
  }
  void add(Expected& to, size_t at, double factor, double size, const std::vector<double>& values, size_t from) const {
    for (size_t i = 0; i < static_cast<size_t>(p_.d); ++i) {
      to.value[at + i] += factor * values[from + i];
      to.terms[at + i] += size * std::fabs(values[from + i]);
    }
  }

  void one_row(size_t row, int64_t in_head) {
    const auto d = static_cast<size_t>(p_.d);
    const size_t at = row * d;
    const int64_t seen = p_.causal ? std::clamp<int64_t>(in_head + 1 + p_.seq_k - p_.seq_q, 0, p_.seq_k) : p_.seq_k;
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t key = 0; key < seen; ++key) {
      double& score = probability_[static_cast<size_t>(key)];
      score = p_.scale * dot(test_.q.values(), at, test_.k.values(), kv_ + static_cast<size_t>(key) * d);
      most = std::max(most, score);
    }
    for (int64_t key = 0; key < seen; ++key) sum += std::exp(probability_[static_cast<size_t>(key)] - most);
    out_.lse.value[row] = seen ? most + std::log(sum) : -std::numeric_limits<double>::infinity();
    for (int64_t key = 0; key < seen; ++key) {
      double& probability = probability_[static_cast<size_t>(key)];
      probability = std::exp(probability - most) / sum;
      add(out_.o, at, probability, probability, test_.v.values(), kv_ + static_cast<size_t>(key) * d);
    }
    double delta = 0, delta_terms = 0;
    for (size_t i = 0; i < d; ++i) {
      delta += out_.o.value[at + i] * test_.d_o.values()[at + i];
      delta_terms += std::fabs(out_.o.value[at + i] * test_.d_o.values()[at + i]);
    }
    for (int64_t key = 0; key < seen; ++key) {
      const size_t other = kv_ + static_cast<size_t>(key) * d;
      const double probability = probability_[static_cast<size_t>(key)],
                   dp = dot(test_.d_o.values(), at, test_.v.values(), other);
      const double ds = p_.scale * probability * (dp - delta),
                   size = p_.scale * probability * (std::fabs(dp) + delta_terms);
      add(out_.dv, other, probability, probability, test_.d_o.values(), at);
      add(out_.dq, at, ds, size, test_.k.values(), other);
      add(out_.dk, other, ds, size, test_.q.values(), at);
    }
  }

  const Case& test_;
  const Problem& p_;
  Reference& out_;
  size_t kv_;
  std::vector<double> probability_;
};

}  // namespace

Reference reference(const Case& test) {
  const Problem& p = test.problem;
  const auto of_queries = static_cast<size_t>(p.batch * p.heads_q * p.seq_q),
             of_keys = static_cast<size_t>(p.batch * p.heads_kv * p.seq_k);
  const auto d = static_cast<size_t>(p.d);
  Reference out;
  for (Expected* e : {&out.o, &out.dq}) e->value.resize(of_queries * d), e->terms.resize(of_queries * d);
  for (Expected* e : {&out.dk, &out.dv}) e->value.resize(of_keys * d), e->terms.resize(of_keys * d);
  out.lse.value.resize(of_queries);
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t head = next++; head < p.batch * p.heads_kv; head = next++)
      Head(test, out, head / p.heads_kv, head % p.heads_kv);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return out;
}

double worst_row(const std::vector<double>& got, const Expected& expected, int64_t d, double floor) {
  double worst = 0;
  for (size_t row = 0; row < got.size(); row += static_cast<size_t>(d)) {
    double error = 0, value = 0, terms = 0;
    for (size_t i = row; i < row + static_cast<size_t>(d); ++i) {
      const double difference = got[i] - expected.value[i];
      error += difference * difference, value += expected.value[i] * expected.value[i],
          terms += expected.terms[i] * expected.terms[i];
    }
    if (error == 0) continue;
    const double relative = std::sqrt(error) / (std::sqrt(value) + 0.3 * std::sqrt(terms) + floor);
    if (!(relative <= worst)) worst = std::isnan(relative) ? INFINITY : relative;
  }
  return worst;
}

}  // namespace kymo::flash::test
