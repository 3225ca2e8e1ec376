// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kymo::collect {

/// Returns the mangled name of the function that contains an offset of an ELF file, from its symbol table (.symtab),
/// which also lists functions that the library does not export. Empty if the file is stripped, unreadable, or has a
/// symbol table of more than 64 MiB. Tables are read once and kept until the process ends. Thread-safe.
std::string function_at(const std::string& file, std::uint64_t offset);

}  // namespace kymo::collect
