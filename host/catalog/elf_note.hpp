// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_note.h>

#include <filesystem>

namespace kymo::catalog {

/// Reads the kymo note of an ELF file without loading it; every offset is checked, so any bytes may be given.
/// Throws Refused if the file is no shared library of this machine or has no kymo note that can be read.
kymo_note read_note(const std::filesystem::path& file);

}  // namespace kymo::catalog
