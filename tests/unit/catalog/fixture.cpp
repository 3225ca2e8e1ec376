// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <cstdlib>

#include "base/error.hpp"
#include "base/file.hpp"
#include "unit/hang.hpp"

namespace kymo::catalog::test {
namespace fs = std::filesystem;

fs::path plugin(const std::string& name) { return fs::path(KYMO_BINARY_DIR) / "tests" / "plugins" / (name + ".so"); }

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& problem) {
    const std::string message = problem.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << "a message is one line: " << message;
    return message;
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

ScopedEnvironment::ScopedEnvironment(const std::string& name, const std::optional<std::string>& value) : name_(name) {
  if (const char* before = std::getenv(name.c_str())) before_ = before;
  if (value) {
    setenv(name.c_str(), value->c_str(), 1);
  } else {
    unsetenv(name.c_str());
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  if (before_) {
    setenv(name_.c_str(), before_->c_str(), 1);
  } else {
    unsetenv(name_.c_str());
  }
}

InFolder::InFolder()
    : folder_(make_private_folder("kymo-catalog-test")),
      cache_("XDG_CACHE_HOME", (folder_ / "cache").string()),
      path_("KYMO_PLUGIN_PATH", std::nullopt) {
  options_.describe_deadline_s = kymo::testing::kHang_s;
  // Describing the plugins of this build loads LibTorch for each of them.
  options_.installed = folder_ / "installed";
}

InFolder::~InFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path InFolder::copy(const std::string& name, const std::string& as) const {
  const fs::path to = folder_ / ((as.empty() ? name : as) + ".so");
  fs::create_directories(to.parent_path());
  fs::copy_file(plugin(name), to, fs::copy_options::overwrite_existing);
  return to;
}

fs::path InFolder::cache_entry() const {
  const fs::path entries = folder_ / "cache" / "kymo" / "plugins";
  fs::path found;
  for (const auto& entry : fs::directory_iterator(entries)) found = entry.path();
  EXPECT_FALSE(found.empty());
  return found;
}

}  // namespace kymo::catalog::test
