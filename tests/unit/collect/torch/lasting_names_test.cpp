// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/lasting_names.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "collect/event_log/operator_rows.hpp"

namespace kymo::collect {
namespace {

TEST(LastingNames, AreFoundByTheirAddressAlone) {
  LastingNames names;
  const char one[] = "aten::add";
  const char same[] = "aten::add";
  const RowText first;
  const RowText second;
  EXPECT_EQ(names.find(one), nullptr);
  names.add(one, first);
  EXPECT_EQ(names.find(one), &first);
  EXPECT_EQ(names.find(same), nullptr);
  names.add(one, second);
  EXPECT_EQ(names.find(one), &second);
  names.clear();
  EXPECT_EQ(names.find(one), nullptr);
}

TEST(LastingNames, ThatAreTooManyAreForgotten) {
  LastingNames names;
  const std::vector<char> memory(100'000);
  const RowText text;
  std::size_t found = 0;
  for (const char& name : memory) names.add(&name, text);
  for (const char& name : memory) found += names.find(&name) == &text;
  EXPECT_EQ(found, 512u);
  EXPECT_EQ(names.find(&memory.back()), nullptr) << "and looking for one comes to an end";
}

}  // namespace
}  // namespace kymo::collect
