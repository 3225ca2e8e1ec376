// SPDX-License-Identifier: Apache-2.0
#define BOOST_DLL_USE_STD_FS
#include <kymo_plugin.h>

#include <boost/dll/shared_library.hpp>

#include "catalog/catalog.hpp"
#include "catalog/elf_note.hpp"
#include "catalog/refused.hpp"
#include "catalog/table.hpp"

namespace kymo::catalog {

const void* load_plugin(const std::filesystem::path& file) {
  const kymo_note note = read_note(file);
  try {
    // Leaked on purpose: threads, device code and exit handlers of the plugin's libraries may run until the process
    // ends.
    auto* library =
        new boost::dll::shared_library(file, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    if (!library->has(KYMO_ENTRY_SYMBOL)) {
      throw Error("it exports no " KYMO_ENTRY_SYMBOL "; add KYMO_EXPORT_WORKLOADS and build it with kymo_add_plugin");
    }
    const kymo_plugin* table = library->get<const kymo_plugin*()>(KYMO_ENTRY_SYMBOL)();
    check_table(table, note);
    return table;
  } catch (const std::exception& problem) {
    throw Refused(file, problem.what());
  }
}

}  // namespace kymo::catalog
