// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store/results.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using measure::Pass;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The names of the kernels of each step, in their order of launch, which start in the opposite order.
event::PassRecord trace_of(const std::vector<std::vector<std::string>>& steps) {
  event::PassRecord record;
  record.trace.shapes = {{}};
  std::uint32_t launches = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const std::string& name : steps[step]) {
      event::Activity& kernel = record.trace.activities.emplace_back();
      kernel.name = record.trace.texts.intern(name);
      kernel.step = static_cast<std::int32_t>(step);
      kernel.correlation_id = ++launches;
    }
  }
  std::ranges::reverse(record.trace.activities);
  return record;
}

event::PassRecord counts_of(const std::vector<std::string>& kernels) {
  event::PassRecord record;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    for (const char* metric : {"dram__bytes_read.sum", "dram__bytes_write.sum"})
      record.kernel_counts.push_back({.launch = static_cast<std::int64_t>(i),
                                      .kernel = record.trace.texts.intern(kernels[i]),
                                      .name = record.trace.texts.intern(metric),
                                      .steps = 1,
                                      .value = 1});
  return record;
}

class LaunchOrder : public StoreTest {
 protected:
  /// The dropped records of a run with these kernels in the pass trace and these counts.
  std::string dropped(const std::vector<std::vector<std::string>>& traced, const std::vector<std::string>& counted,
                      Keep keep = Keep::kAll) {
    ResultsDatabase database(path(std::to_string(++databases_) + ".db"), ResultsDatabase::Mode::kCreate);
    const std::int64_t run_id = database.begin_run(make_run(database.begin_invocation("kymo run", {})));
    const auto trace = rank_file_name(folder(), run_id, 0, Pass::kTrace);
    const auto counters = rank_file_name(folder(), run_id, 0, Pass::kCounters);
    write_rank_file(trace, run_id, 0, Pass::kTrace, trace_of(traced));
    write_rank_file(counters, run_id, 0, Pass::kCounters, counts_of(counted));
    database.finalize_run(run_id, {}, {}, {trace, counters}, keep);
    return ask(database, "SELECT rank, pass, count, detail FROM dropped_record WHERE source = 'hardware counters'");
  }

 private:
  int databases_ = 0;
};

TEST_F(LaunchOrder, OneStepWithTheSameKernelsIsEnough) {
  EXPECT_EQ(dropped({{"a", "warm-up"}, {"a", "b", "a"}}, {"a", "b", "a"}), "");
}

TEST_F(LaunchOrder, AnotherKernelIsNamed) {
  EXPECT_THAT(
      dropped({{"a", "b", "a"}, {"a", "b", "a"}}, {"a", "c", "a"}),
      AllOf(HasSubstr("0|counters|3|"), HasSubstr("pass trace, which launched other kernels in step 0: kernel 1 "
                                                  "is 'b' instead of 'c'")));
}

TEST_F(LaunchOrder, AnotherNumberOfKernelsIsStated) {
  EXPECT_THAT(dropped({{"a", "b"}}, {"a"}), HasSubstr("(2 kernels instead of 1): kernel 1 is 'b' instead of none"));
}

TEST_F(LaunchOrder, FewerKernelsAreStated) {
  EXPECT_THAT(dropped({{"a"}}, {"a", "b"}), HasSubstr("in step 0 (1 kernels instead of 2)"));
}

TEST_F(LaunchOrder, WithoutKernelsOrCountsThereIsNothingToCompare) {
  EXPECT_EQ(dropped({{"a"}}, {}), "");
  EXPECT_EQ(dropped({{"a"}}, {"b"}, Keep::kSummary), "") << "what is left out on purpose is not lost";
}

}  // namespace
}  // namespace kymo::store::testing
