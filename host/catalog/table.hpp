// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include "catalog/catalog.hpp"

namespace kymo::catalog {

/// Checks the table of a loaded plugin against its file's note; throws Error with the reason.
void check_table(const kymo_plugin* table, const kymo_note& note);

/// Copies a plugin's description from its C table and checks all of it: names, types, defaults, bounds. Throws Error
/// with the reason. The identity of the file is left empty. Pointers cannot be checked, so only the describing child
/// and workers call this.
Plugin plugin_from_table(const kymo_plugin& table);

}  // namespace kymo::catalog
