// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kPlaceholder = "saxpy";
constexpr std::string_view kClassPlaceholder = "Saxpy";
constexpr std::string_view kFolderPlaceholder = "@KYMO_FOLDER@";
constexpr std::string_view kPythonPlaceholder = "my_kernel";
constexpr std::string_view kPythonClassPlaceholder = "MyKernel";

void check_name(const std::string& name) {
  if (!is_name(name)) throw UsageError("invalid plugin name " + quote(name) + ": " + kNameRule);
  // CMake reserves these target names.
  for (const char* taken :
       {"all", "clean", "depend", "edit_cache", "help", "install", "package", "rebuild_cache", "test"}) {
    if (name == taken)
      throw UsageError("invalid plugin name " + quote(name) + ": the name is reserved by CMake; try " +
                       quote(name + "_workload"));
  }
  if (name.starts_with("lib"))
    throw UsageError("invalid plugin name " + quote(name) +
                     ": files named lib*.so are treated as shared libraries, not plugins");
}

/// flash_attention → FlashAttention.
std::string class_name(const std::string& name) {
  std::string result;
  bool begins = true;
  for (const char c : name) {
    if (c == '_') {
      begins = true;
      continue;
    }
    result += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = false;
  }
  return result;
}

/// Escapes text for a quoted CMake argument.
std::string cmake_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"' || c == '$' || c == ';') result += '\\';
    result += c;
  }
  return result;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

void reject_existing(const fs::path& target) {
  if (fs::exists(fs::symlink_status(target)))
    throw UsageError(quote(target.string()) + " already exists; choose another name or folder");
}

}  // namespace

fs::path new_plugin(const std::string& name, const fs::path& parent) {
  check_name(name);
  const fs::path source = installation().share / "template";
  if (!fs::is_regular_file(source / "CMakeLists.txt"))
    throw Error("the template is missing: " + quote((source / "CMakeLists.txt").string()));
  const fs::path folder = fs::absolute(parent) / name;
  reject_existing(folder);
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error("cannot create the folder " + quote(folder.string()) + ": " + failed.message());
  try {
    for (const auto& entry : fs::directory_iterator(source)) {
      std::string text = read_file(entry.path());
      text = replaced(std::move(text), kPlaceholder, name);
      text = replaced(std::move(text), kClassPlaceholder, class_name(name));
      text = replaced(std::move(text), kFolderPlaceholder, cmake_escaped(installation().root.string()));
      write_file(folder / replaced(entry.path().filename().string(), kPlaceholder, name), text);
    }
  } catch (...) {
    fs::remove_all(folder, failed);  // an incomplete template would be in the way of the next attempt
    throw;
  }
  return folder;
}

fs::path new_python_file(const std::string& name, const std::string& variant, const fs::path& parent) {
  if (!is_name(name)) throw UsageError("invalid workload name " + quote(name) + ": " + kNameRule);
  const fs::path templates = installation().share / "template-python";
  if (!fs::is_directory(templates)) throw Error("the templates are missing: " + quote(templates.string()));
  std::vector<std::string> variants;
  for (const auto& entry : fs::directory_iterator(templates)) variants.push_back(entry.path().stem().string());
  std::ranges::sort(variants);
  if (!contains(variants, variant))
    throw UsageError("--template cannot be " + quote(variant) + "; it is one of " + join(variants, ", "));
  const fs::path file = fs::absolute(parent) / (name + ".py");
  reject_existing(file);
  std::string text = read_file(templates / (variant + ".py"));
  text = replaced(std::move(text), kPythonPlaceholder, name);
  write_file(file, replaced(std::move(text), kPythonClassPlaceholder, class_name(name)));
  return file;
}

}  // namespace kymo::catalog
