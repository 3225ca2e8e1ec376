// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collect/cuda/profiler_api.hpp"

namespace kymo::collect {

/// Metrics of a chip that are counted together, and their configuration. Plans and evaluates without a driver.
class CounterSet {
 public:
  /// Throws Unavailable, also if the chip has no such metric.
  CounterSet(const ProfilerApi& api, const std::string& chip, const std::vector<std::string>& metrics);
  ~CounterSet();
  CounterSet(const CounterSet&) = delete;
  CounterSet& operator=(const CounterSet&) = delete;

  const std::vector<const char*>& metrics() const { return names_; }
  const std::vector<std::uint8_t>& image() const { return image_; }
  /// How often the same work has to run until everything is counted.
  std::size_t passes() const { return passes_; }
  /// Returns the values of a range in the data of a profiler. Throws Unavailable.
  const std::vector<double>& evaluate(const std::vector<std::uint8_t>& data, std::size_t range);

 private:
  void configure();
  void end();

  const ProfilerApi& api_;
  std::vector<std::string> metrics_;
  std::vector<const char*> names_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> image_;
  std::size_t passes_ = 0;
  std::vector<double> values_;
};

/// The metrics to count on a chip: in each set those that the hardware counts at the same time, so that nothing has to
/// run twice. Metrics that the chip does not have, or not at once, are left out.
std::vector<std::vector<std::string>> plan_counters(const ProfilerApi& api, const std::string& chip);

}  // namespace kymo::collect
