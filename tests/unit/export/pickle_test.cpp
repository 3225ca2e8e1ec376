// SPDX-License-Identifier: Apache-2.0
#include "export/pickle.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "sample_events.hpp"

namespace kymo::exports {
namespace {

using testing::kHostile;

class PickleTest : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = make_private_folder("kymo-pickle-test"); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// The object as read back by Python. Numbers are returned as strings, because JSON readers round large ones.
  Json read_back() {
    SpawnOptions options;
    options.command = {KYMO_PYTHON, "-c",
                       "import json, pickle, sys\n"
                       "texts = lambda o: [texts(i) for i in o] if isinstance(o, (list, tuple)) else {k: texts(v) for "
                       "k, v in o.items()} "
                       "if isinstance(o, dict) else o if isinstance(o, (bool, str)) else str(o)\n"
                       "print(json.dumps(texts(pickle.load(open(sys.argv[1], 'rb')))))",
                       (folder_ / "x").string()};
    const CommandResult result = run_command(options, 60);
    EXPECT_EQ(result.end.exit_code, 0) << result.stderr_text;
    return parse_json(result.stdout_text, "python");
  }
  std::filesystem::path folder_;
};

TEST_F(PickleTest, IsReadBackByPython) {
  Output output(folder_ / "x", Output::Kind::kBinary);
  Pickle pickle(output);
  const std::vector<std::int64_t> numbers{
      0,          1,           255,        256,          65535,       65536,
      2147483647, 2147483648,  -1,         -2147483648,  -2147483649, 140737488355328,
      -32768,     -8388609000, 4294967295, 549755813888, INT64_MAX,   INT64_MIN};
  Json expected;
  pickle.begin_dict();
  pickle.key("numbers");
  pickle.begin_list();
  for (const std::int64_t number : numbers) {
    pickle.item();
    pickle.number(number);
    expected["numbers"].push_back(std::to_string(number));
  }
  pickle.item();
  pickle.address(std::numeric_limits<std::uint64_t>::max());
  expected["numbers"].push_back("18446744073709551615");
  pickle.end_list();
  pickle.key("pair");
  pickle.pair(3, -4);
  expected["pair"] = {"3", "-4"};
  pickle.key("truths");
  pickle.begin_list();
  for (const bool boolean : {true, false}) {
    pickle.item();
    pickle.boolean(boolean);
  }
  pickle.end_list();
  expected["truths"] = {true, false};
  pickle.entry("text", std::string_view(kHostile));
  expected["text"] = kHostile;
  const std::string long_text(70'000, 'x');
  pickle.entry("long", std::string_view(long_text));
  expected["long"] = long_text;
  pickle.entry("again", std::string_view(long_text));
  expected["again"] = long_text;
  pickle.key("empty");
  pickle.begin_dict();
  pickle.end_dict();
  expected["empty"] = Json::object();
  pickle.end_dict();
  pickle.end();
  output.finish();
  EXPECT_EQ(read_back(), expected);
}

TEST_F(PickleTest, TakesLongListsInBatchesAndSharesWhatIsRemembered) {
  Output output(folder_ / "x", Output::Kind::kBinary);
  Pickle pickle(output);
  pickle.begin_list();
  pickle.item();
  pickle.begin_list();
  pickle.item();
  pickle.text("shared");
  pickle.end_list();
  const std::uint32_t shared = pickle.remember();
  for (int i = 0; i < 2'500; ++i) {
    pickle.item();
    pickle.text("text " + std::to_string(i));  // more than a one-byte count
  }
  pickle.item();
  pickle.recall(shared);
  pickle.end_list();
  pickle.end();
  output.finish();
  const Json list = read_back();
  ASSERT_EQ(list.size(), 2'502u);
  EXPECT_EQ(list.front(), list.back());
  EXPECT_EQ(list[2'500], "text 2499");
  EXPECT_EQ(list[1'000], "text 999");
}

}  // namespace
}  // namespace kymo::exports
