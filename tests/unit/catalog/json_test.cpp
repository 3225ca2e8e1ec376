// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {

Plugin sample() {
  Plugin plugin;
  plugin.name = "p";
  plugin.version = "1.2";
  plugin.file = {"/x/p.so",
                 std::string(64, 'a'),
                 {{"librest.so", std::string(64, 'b')}},
                 1,
                 0,
                 "libtorch",
                 "2.11.0",
                 "13.0",
                 "gcc 12.2.0",
                 "cxx11",
                 "/env/bin/python3",
                 "/env/torch"};
  Workload workload;
  workload.name = "w";
  workload.documentation = "<script> \"quoted\"\n";
  workload.phases = {"forward", "backward"};
  workload.runs_on_cpu = false;
  workload.runs_on_cuda = true;
  workload.min_ranks = 2;
  workload.max_ranks = 8;
  workload.asynchronous_step = true;
  workload.title = "W";
  workload.family = "f";
  workload.family_order = 2;
  workload.parameters = {
      {"n", ParameterType::kInt, "rows", "count", std::int64_t{1} << 60, 1.0, std::nullopt, {}, {"8", "16"}},
      {"r", ParameterType::kReal, "", "rate", 2.0, std::nullopt, 4.0, {}, {}},
      {"b", ParameterType::kBool, "", "", false, std::nullopt, std::nullopt, {}, {}},
      {"c", ParameterType::kChoice, "", "", std::string("x"), std::nullopt, std::nullopt, {"x", "y"}, {}},
  };
  workload.parameters[0].title = "{} rows";
  workload.parameters[0].titled_at_default = workload.parameters[0].is_setting = true;
  plugin.workloads = {workload};
  return plugin;
}

TEST(CatalogJson, GoesThereAndBack) {
  const Json json = to_json(sample());
  const Plugin back = plugin_from_json(parse_json(json.dump(), "test"));
  EXPECT_EQ(to_json(back), json);
  const Workload& workload = back.workloads.at(0);
  EXPECT_FALSE(workload.runs_on_cpu);
  EXPECT_TRUE(workload.runs_on_cuda);
  EXPECT_EQ(std::get<std::int64_t>(workload.parameters[0].default_value), std::int64_t{1} << 60);
  EXPECT_EQ(std::get<double>(workload.parameters[1].default_value), 2.0) << "a whole real stays a real";
  EXPECT_EQ(workload.title, "W");
  EXPECT_EQ(workload.family, "f");
  EXPECT_EQ(workload.family_order, 2);
  EXPECT_EQ(workload.parameters[0].title, "{} rows");
  EXPECT_TRUE(workload.parameters[0].titled_at_default);
  EXPECT_TRUE(workload.parameters[0].is_setting);
  EXPECT_FALSE(workload.parameters[1].minimum.has_value());
}

TEST(CatalogJson, RejectsWrongFields) {
  const Json good = to_json(sample());
  for (const char* field : {"name", "version", "sha256", "workloads", "abi_major"}) {
    Json bad = good;
    bad.erase(field);
    EXPECT_THROW(plugin_from_json(bad), Error) << field;
    bad = good;
    bad[field] = Json{{"a", 1}};
    EXPECT_THROW(plugin_from_json(bad), Error) << field;
  }
  Json bad = good;
  bad["workloads"][0]["parameters"][0]["type"] = "tensor";
  EXPECT_THROW(plugin_from_json(bad), Error);
  EXPECT_THROW(plugin_from_json(Json::array()), Error);
  EXPECT_THROW(plugin_from_json(Json()), Error);
}

}  // namespace
}  // namespace kymo::catalog::test
