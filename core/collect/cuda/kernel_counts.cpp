// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/kernel_counts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"

namespace kymo::collect {
namespace {

std::string text_of(const std::vector<LaunchedKernel>& kernels, std::size_t at) {
  return at < kernels.size() ? quote(kernels[at].name) : "none";
}

/// Where two different orders differ first.
std::string difference(const std::vector<LaunchedKernel>& kept, const std::vector<LaunchedKernel>& other) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(kept, other).in1 - kept.begin());
  if (text_of(kept, at) == text_of(other, at)) return "kernel " + std::to_string(at) + " is in another phase";
  return "kernel " + std::to_string(at) + " is " + text_of(other, at) + " instead of " + text_of(kept, at);
}

}  // namespace

void KernelCounts::add(std::int64_t step, std::vector<LaunchedKernel> kernels, const std::vector<std::string>& metrics,
                       const std::vector<std::vector<double>>& values) {
  auto order = std::ranges::find(orders_, kernels, &Order::kernels);
  if (order == orders_.end())
    order = orders_.insert(order, {.first_step = step, .kernels = std::move(kernels), .metrics = {}});
  ++order->steps;
  for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
    if (std::ranges::any_of(values, [&](const auto& row) { return !std::isfinite(row[metric]); })) continue;
    Sums& sums = order->metrics[metrics[metric]];
    sums.values.resize(values.size());
    ++sums.steps;
    for (std::size_t i = 0; i < values.size(); ++i) sums.values[i] += values[i][metric];
  }
}

void KernelCounts::take(event::PassRecord& record, const std::string& source) {
  const std::vector<Order> orders = std::exchange(orders_, {});
  const auto kept = std::ranges::max_element(orders, {}, &Order::steps);
  if (kept == orders.end()) return;
  event::Texts& texts = record.trace.texts;
  for (std::size_t i = 0; i < kept->kernels.size(); ++i) {
    for (const auto& [metric, sums] : kept->metrics)
      record.kernel_counts.push_back({.launch = static_cast<std::int64_t>(i),
                                      .phase = kept->kernels[i].phase,
                                      .kernel = texts.intern(kept->kernels[i].name),
                                      .name = texts.intern(metric),
                                      .steps = sums.steps,
                                      .value = sums.values[i]});
  }
  for (const Order& other : orders) {
    if (&other == &*kept) continue;
    record.dropped_records.push_back({source, other.steps,
                                      "steps not counted by kernel, because they launched other kernels than step " +
                                          std::to_string(kept->first_step) + ": in step " +
                                          std::to_string(other.first_step) + ", " +
                                          difference(kept->kernels, other.kernels)});
  }
}

}  // namespace kymo::collect
