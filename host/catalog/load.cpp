// SPDX-License-Identifier: Apache-2.0
#define BOOST_DLL_USE_STD_FS
#include <kymo_plugin.h>

#include <boost/dll/shared_library.hpp>
#include <list>
#include <mutex>

#include "catalog/catalog.hpp"
#include "catalog/plugin_file.hpp"
#include "catalog/table.hpp"

namespace kymo::catalog {
namespace {

using boost::dll::shared_library;
namespace load_mode = boost::dll::load_mode;

/// Loads a library for the lifetime of the process: threads, device code and exit handlers of a plugin's libraries may
/// run until the process ends, so no library is ever unloaded.
const shared_library& load_forever(const std::filesystem::path& file) {
  static std::mutex mutex;
  static auto& libraries = *new std::list<shared_library>;
  shared_library library(file, load_mode::rtld_now | load_mode::rtld_local);
  const std::lock_guard lock(mutex);
  return libraries.emplace_back(std::move(library));
}

}  // namespace

const void* load_plugin(const std::filesystem::path& file) {
  const kymo_note note = read_note(file);
  try {
    const shared_library& library = load_forever(file);
    if (!library.has(KYMO_ENTRY_SYMBOL)) {
      throw Error("it does not export " KYMO_ENTRY_SYMBOL
                  "; add KYMO_EXPORT_WORKLOADS and build the plugin with kymo_add_plugin");
    }
    const kymo_plugin* table = library.get<const kymo_plugin*()>(KYMO_ENTRY_SYMBOL)();
    check_table(table, note);
    return table;
  } catch (const std::exception& problem) {
    throw PluginRejected(file, problem.what());
  }
}

}  // namespace kymo::catalog
