// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/sqlite.hpp"

namespace kymo::store {

/// Makes the committed state readable that the journal of a killed writer hides. Rolls the journal back in the file if
/// `in_place` is set and that is possible. Otherwise lets SQLite roll it back in a private copy in TMPDIR (/tmp) or
/// /dev/shm, warns about it, and returns a connection to the copy, which is deleted with the connection. Returns
/// nullptr if `reader` can read the file itself. Throws Error that states the cause if neither is possible.
std::unique_ptr<Connection> roll_back_leftovers(const Connection& reader, bool in_place);

}  // namespace kymo::store
