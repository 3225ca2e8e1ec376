// SPDX-License-Identifier: Apache-2.0
#include "store/sql_functions.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "measure/ratio_text.hpp"

namespace kymo::store {
namespace {

/// Allocates from SQLite, so that SQLite's memory limit includes the values of an aggregate.
template <typename T>
struct SqliteAllocator {
  using value_type = T;
  SqliteAllocator() = default;
  template <typename U>
  SqliteAllocator(const SqliteAllocator<U>&) {}
  T* allocate(std::size_t count) {
    if (void* memory = sqlite3_malloc64(count * sizeof(T))) return static_cast<T*>(memory);
    throw std::bad_alloc();
  }
  void deallocate(T* memory, std::size_t) { sqlite3_free(memory); }
  template <typename U>
  bool operator==(const SqliteAllocator<U>&) const {
    return true;
  }
};

using Values = std::vector<double, SqliteAllocator<double>>;

/// The state of one group or window.
struct Aggregate {
  std::deque<double, SqliteAllocator<double>> values;
  double percent = std::numeric_limits<double>::quiet_NaN();
};

using Statistic = double (*)(Values& values, double percent);

double percentile(Values& values, double percent) {
  const double at = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto low = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), low, values.end());
  if (below + 1 == values.size()) return *low;
  const double above = *std::min_element(low + 1, values.end());
  return *low + (above - *low) * (at - static_cast<double>(below));
}

double median(Values& values, double) { return percentile(values, 50); }

double sample_deviation(Values& values, double) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();  // becomes NULL
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

// SQLite zeroes the memory that it holds per group: a pointer to the state.
Aggregate** state_of(sqlite3_context* context, bool create) {
  return static_cast<Aggregate**>(sqlite3_aggregate_context(context, create ? sizeof(Aggregate*) : 0));
}

bool is_number(sqlite3_context* context, sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) return true;
  if (type != SQLITE_NULL) sqlite3_result_error(context, "median, percentile and stddev take numbers", -1);
  return false;
}

void add_value(sqlite3_context* context, int count, sqlite3_value** arguments) {
  try {
    Aggregate** state = state_of(context, true);
    if (state == nullptr) throw std::bad_alloc();
    if (*state == nullptr) *state = new Aggregate;
    if (count == 2) {
      const double percent = sqlite3_value_double(arguments[1]);
      const bool changed = !std::isnan((*state)->percent) && (*state)->percent != percent;
      if (!is_number(context, arguments[1]) || !(percent >= 0 && percent <= 100) || changed)
        return sqlite3_result_error(context, "the second argument of percentile is a constant from 0 to 100", -1);
      (*state)->percent = percent;
    }
    if (is_number(context, arguments[0])) (*state)->values.push_back(sqlite3_value_double(arguments[0]));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

/// Removes the row that entered the window first.
void remove_value(sqlite3_context* context, int, sqlite3_value** arguments) {
  Aggregate** state = state_of(context, false);
  if (state != nullptr && *state != nullptr && is_number(context, arguments[0])) (*state)->values.pop_front();
}

template <Statistic statistic>
void current_result(sqlite3_context* context) {
  Aggregate** state = state_of(context, false);
  if (state == nullptr || *state == nullptr || (*state)->values.empty()) return sqlite3_result_null(context);
  try {
    Values values((*state)->values.begin(), (*state)->values.end());
    sqlite3_result_double(context, statistic(values, (*state)->percent));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

template <Statistic statistic>
void last_result(sqlite3_context* context) {
  current_result<statistic>(context);
  if (Aggregate** state = state_of(context, false)) delete *state;
}

template <Statistic statistic>
void add(sqlite3* connection, const char* name, int arguments) {
  sqlite3_create_window_function(connection, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                 nullptr, add_value, last_result<statistic>, current_result<statistic>, remove_value,
                                 nullptr);
}

void ratio_text(sqlite3_context* context, int count, sqlite3_value** arguments) {
  std::array<double, 3> ratios{};
  for (int i = 0; i < count; ++i) {
    double& ratio = ratios.at(static_cast<std::size_t>(i));
    ratio = sqlite3_value_double(arguments[i]);  // 0 for NULL
    if (!(ratio > 0) || !std::isfinite(ratio)) return sqlite3_result_null(context);
  }
  const std::string text = count == 1   ? measure::ratio_text(ratios[0])
                           : count == 2 ? measure::ratio_range_text(ratios[0], ratios[1])
                                        : measure::ratio_interval_text(ratios[0], ratios[1], ratios[2]);
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

void add_sql_functions(sqlite3* connection) {
  add<median>(connection, "median", 1);
  add<percentile>(connection, "percentile", 2);
  add<sample_deviation>(connection, "stddev", 1);
  for (const auto& [name, arguments] : {std::pair{"ratio_text", 1}, {"ratio_text", 2}, {"ratio_interval", 3}})
    sqlite3_create_function_v2(connection, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                               nullptr, ratio_text, nullptr, nullptr, nullptr);
}

}  // namespace kymo::store
