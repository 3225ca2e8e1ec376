// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kymo/descriptor.hpp>

namespace {

using ::testing::ElementsAre;

TEST(Descriptor, KeepsWhatAParameterSays) {
  const kymo::Descriptor made =
      kymo::Descriptor{"w", "d"}
          .param("n", kymo::Int{8}.at_least(1).at_most(64).axis({8, 16}).unit("rows"), "how many")
          .param("r", kymo::Real{0.1}.at_least(0).axis({0.1, 1e-12, 100}), "rate")
          .param("b", kymo::Bool{true}, "flag")
          .param("t", kymo::Text{"x"}.axis({"x", "y z"}), "text")
          .param("c", kymo::Choice{"a", {"a", "b"}}.axis({"b"}), "choice");
  ASSERT_EQ(made.parameters().size(), 5u);
  const kymo::Parameter& n = made.parameters()[0];
  EXPECT_EQ(n.name, "n");
  EXPECT_EQ(n.type, std::uint32_t{KYMO_INT});
  EXPECT_EQ(n.integer, 8);
  EXPECT_EQ(n.minimum, 1.0);
  EXPECT_EQ(n.maximum, 64.0);
  EXPECT_EQ(n.unit, "rows");
  EXPECT_EQ(n.documentation, "how many");
  EXPECT_THAT(n.axis, ElementsAre("8", "16"));
  EXPECT_THAT(made.parameters()[1].axis, ElementsAre("0.1", "1e-12", "100"))
      << "reals are written so that they read back the same";
  EXPECT_TRUE(made.parameters()[2].boolean);
  EXPECT_THAT(made.parameters()[3].axis, ElementsAre("x", "y z"));
  EXPECT_THAT(made.parameters()[4].choices, ElementsAre("a", "b"));
}

TEST(Descriptor, DeclaresTitles) {
  const kymo::Descriptor plain = kymo::Descriptor{"w", ""}.param("n", kymo::Int{8}, "");
  EXPECT_EQ(plain.title(), "w");
  EXPECT_EQ(plain.family(), "");
  EXPECT_EQ(plain.parameters()[0].title, "");
  EXPECT_EQ(plain.parameters()[0].flags, 0u);
  const kymo::Descriptor made = kymo::Descriptor{"w", ""}
                                    .title("")
                                    .family("f", 2)
                                    .param("n", kymo::Int{8}.title("{} rows", kymo::Shown::Always), "")
                                    .param("b", kymo::Bool{true}.title(" off").setting(), "");
  EXPECT_EQ(made.title(), "");
  EXPECT_EQ(made.family(), "f");
  EXPECT_EQ(made.family_order(), 2u);
  EXPECT_EQ(made.parameters()[0].title, "{} rows");
  EXPECT_EQ(made.parameters()[0].flags, std::uint32_t{KYMO_TITLE_AT_DEFAULT});
  EXPECT_EQ(made.parameters()[1].title, " off");
  EXPECT_EQ(made.parameters()[1].flags, std::uint32_t{KYMO_SETTING});
}

TEST(Descriptor, ChoosesDevices) {
  EXPECT_EQ((kymo::Descriptor{"w", ""}.devices()), std::uint32_t{KYMO_CPU});
  EXPECT_EQ((kymo::Descriptor{"w", ""}.uses(kymo::Framework::LibTorch).devices()), std::uint32_t{KYMO_CPU | KYMO_CUDA});
  EXPECT_EQ((kymo::Descriptor{"w", ""}.uses(kymo::Framework::LibTorch).devices({kymo::Device::Cuda}).devices()),
            std::uint32_t{KYMO_CUDA});
}

}  // namespace
