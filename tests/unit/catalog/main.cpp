// SPDX-License-Identifier: Apache-2.0
// The catalog describes plugins in a child process that runs the same program, which is the test program here.
#include <gmock/gmock.h>

#include <string_view>

#include "catalog/catalog.hpp"

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "describe-plugin")
    return kymo::catalog::describe_in_this_process(argv[2]);
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
