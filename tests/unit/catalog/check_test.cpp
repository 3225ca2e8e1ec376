// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog::test {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Why a workload whose parameter has this title is rejected; empty if it is not.
std::string rejection(const std::string& title) {
  Parameter parameter;
  parameter.name = "backend";
  parameter.type = ParameterType::kChoice;
  parameter.choices = {"auto", "cudnn", "math"};
  parameter.default_value = std::string("auto");
  parameter.title = title;
  Plugin plugin;
  plugin.name = "p";
  plugin.workloads.emplace_back();
  plugin.workloads[0].name = "w";
  plugin.workloads[0].parameters = {parameter};
  try {
    check_description(plugin);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CheckTitle, TakesTitlesOfChoices) {
  for (const char* title : {"", "fixed", "{}", " {} MiB", " {cudnn=cuDNN}", "by {cudnn=cuDNN|math=a = b} here"})
    EXPECT_EQ(rejection(title), "") << title;
}

TEST(CheckTitle, RejectsWhatNoTitleCanBe) {
  EXPECT_THAT(rejection("{cudn=cuDNN}"),
              AllOf(HasSubstr("the title of parameter 'backend' of workload 'w' is '{cudn=cuDNN}'"),
                    HasSubstr("'cudn' is not one of its choices; did you mean 'cudnn'?")));
  EXPECT_THAT(rejection("{cudnn}"), HasSubstr("'cudnn' has no title; write VALUE=TITLE"));
  EXPECT_THAT(rejection("{cudnn=}"), HasSubstr("'cudnn' has no title"));
  EXPECT_THAT(rejection("{cudnn=a|cudnn=b}"), HasSubstr("'cudnn' has two titles"));
  EXPECT_THAT(rejection("{cudnn=a|}"), HasSubstr("'' is not one of its choices"));
  for (const char* title : {"{", "}", "}{", "{} of {}", "{{}}", "{cudnn={}}", "{cudnn=a}}"})
    EXPECT_THAT(rejection(title), HasSubstr("it may contain braces once")) << title;
}

}  // namespace
}  // namespace kymo::catalog::test
