// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_note.h>
#include <kymo_plugin.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

// kymo_add_plugin() defines these macros. Without it the note declares no framework.
#ifndef KYMO_PLUGIN_NAME
#define KYMO_PLUGIN_NAME ""
#endif
#ifndef KYMO_PLUGIN_VERSION
#define KYMO_PLUGIN_VERSION "0"
#endif
#ifndef KYMO_PLUGIN_FRAMEWORK
#define KYMO_PLUGIN_FRAMEWORK ""
#endif
#ifndef KYMO_PLUGIN_FRAMEWORK_VERSION
#define KYMO_PLUGIN_FRAMEWORK_VERSION ""
#endif
#ifndef KYMO_PLUGIN_CUDA_VERSION
#define KYMO_PLUGIN_CUDA_VERSION ""
#endif

#if defined(__clang__)
#define KYMO_COMPILER "clang " __clang_version__
#else
#define KYMO_COMPILER "gcc " __VERSION__
#endif

namespace kymo::detail {

/// Contents of section .note.kymo: the ELF note header, the note name, and the struct that the host reads.
struct Note {
  std::uint32_t name_size;
  std::uint32_t content_size;
  std::uint32_t type;
  char name[8];
  kymo_note content;
};

template <std::size_t size>
constexpr void put(char (&field)[size], std::string_view text) {
  for (std::size_t i = 0; i < size; ++i) field[i] = i < text.size() && i + 1 < size ? text[i] : '\0';
}

/// Evaluated at compile time, so that the note is stored as constant bytes in the library.
consteval Note make_note() {
  Note note{};
  note.name_size = sizeof(KYMO_NOTE_NAME);
  note.content_size = sizeof(kymo_note);
  note.type = KYMO_NOTE_TYPE;
  put(note.name, KYMO_NOTE_NAME);
  put(note.content.magic, KYMO_NOTE_MAGIC);
  note.content.size = sizeof(kymo_note);
  note.content.abi_major = KYMO_ABI_MAJOR;
  note.content.abi_minor = KYMO_ABI_MINOR;
  put(note.content.framework, KYMO_PLUGIN_FRAMEWORK);
  put(note.content.framework_version, KYMO_PLUGIN_FRAMEWORK_VERSION);
  put(note.content.cuda_version, KYMO_PLUGIN_CUDA_VERSION);
  put(note.content.compiler, KYMO_COMPILER);
#if defined(_LIBCPP_VERSION)
  put(note.content.cxx_abi, "libc++");
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
  put(note.content.cxx_abi, "cxx11");
#else
  put(note.content.cxx_abi, "precxx11");
#endif
  return note;
}

}  // namespace kymo::detail
