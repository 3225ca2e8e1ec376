// SPDX-License-Identifier: Apache-2.0
#include "worker/library_work.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kymo::worker {
namespace {

class LibraryWorkTest : public testing::Test {
 protected:
  /// The work that a call adds.
  std::vector<event::CallWork> add(const std::string& name, const std::string& arguments) {
    event::Operator call;
    call.name = texts_.intern(name);
    call.shapes = texts_.intern(arguments);
    std::vector<event::LibraryOpWork> added;
    work_.add(texts_, call, added);
    std::vector<event::CallWork> result;
    for (const event::LibraryOpWork& each : added) {
      EXPECT_EQ(each.name, call.name);
      EXPECT_EQ(each.arguments, call.shapes);
      result.push_back(each.call);
    }
    return result;
  }
  static void load() { ASSERT_NE(dlopen(KYMO_TEST_OPERATORS, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror(); }

  event::Texts texts_;
  LibraryWork work_;
};

constexpr const char* kArguments = "bf16[4*, 8] 3 None {f32[2], f32[3]}";

// The first test: the library stays loaded.
TEST_F(LibraryWorkTest, IsFoundInALibraryThatIsLoadedLater) {
  EXPECT_TRUE(add("mylib::scale", kArguments).empty());
  load();
  EXPECT_TRUE(add("mylib::scale", kArguments).empty()) << "the same call again";
  const auto found = add("mylib::scale", "bf16[4, 8] 3 None {f32[2], f32[3]}");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, event::WorkKind::kElementwise);
  EXPECT_EQ(found[0].dtype, "bf16");
  EXPECT_EQ(found[0].flops, 8 + 3);
  EXPECT_EQ(found[0].model_flops, 4 * 8);
  EXPECT_EQ(found[0].masked_model_flops, 2);
  EXPECT_EQ(found[0].bytes, 2 * 4 * 8 + 4 * 5);
}

TEST_F(LibraryWorkTest, ExpandedDimensionsCountOnce) {
  load();
  EXPECT_EQ(add("mylib::scale", kArguments).at(0).bytes, 2 * 8 + 4 * 5);
}

TEST_F(LibraryWorkTest, IsAskedForOncePerOperatorAndArguments) {
  load();
  EXPECT_EQ(add("mylib::scale", kArguments).size(), 1u);
  EXPECT_TRUE(add("mylib::scale", kArguments).empty());
  EXPECT_EQ(add("mylib::scale", "f32[4]").size(), 1u);
}

TEST_F(LibraryWorkTest, IsUnknownIfArgumentsOrKindAreUnexpected) {
  load();
  for (const auto& [name, arguments] : std::vector<std::pair<const char*, const char*>>{
           {"mylib::scale", "f32[4]"}, {"mylib::scale", "f32[4, 8] ..."}, {"mylib::strange", "f32[4]"}}) {
    const auto found = add(name, arguments);
    ASSERT_EQ(found.size(), 1u) << name << ' ' << arguments;
    EXPECT_EQ(found[0].kind, event::WorkKind::kUnknown);
    EXPECT_FALSE(found[0].flops || found[0].bytes);
  }
}

TEST_F(LibraryWorkTest, IsNotAddedForOtherOperatorsAndWithoutArguments) {
  load();
  EXPECT_TRUE(add("aten::mm", "f32[5, 7] f32[7, 11]").empty());
  EXPECT_TRUE(add("mylib::scale", "").empty());
}

}  // namespace
}  // namespace kymo::worker
