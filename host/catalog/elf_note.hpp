// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_note.h>

#include <filesystem>

namespace kymo::catalog {

/// Reads the kymo note of an ELF file without loading it. Every offset is checked, so the file may contain arbitrary
/// bytes. Throws Refused if the file is not a shared library for this machine or has no readable kymo note.
kymo_note read_note(const std::filesystem::path& file);

}  // namespace kymo::catalog
