// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kymo::collect {

/// Functions of Python's public C API, as documented from 3.10 to 3.14; objects are opaque. They are looked up in the
/// process, because this code also runs in processes without Python.
struct PythonApi {
  int (*is_initialized)() = nullptr;
  int (*gil_check)() = nullptr;
  void* (*this_thread_state)() = nullptr;
  int (*gil_ensure)() = nullptr;
  void (*gil_release)(int) = nullptr;
  int (*gc_disable)() = nullptr;
  int (*gc_enable)() = nullptr;
  void* (*current_frame)() = nullptr;    ///< borrowed
  void* (*frame_back)(void*) = nullptr;  ///< a new reference
  void* (*frame_code)(void*) = nullptr;  ///< a new reference
  int (*frame_line)(void*) = nullptr;
  int (*frame_instruction)(void*) = nullptr;  ///< from 3.11 on, else nullptr
  int (*line_of)(void*, int) = nullptr;       ///< of an instruction of a code object
  void* (*attribute)(void*, const char*) = nullptr;
  const char* (*utf8)(void*, long*) = nullptr;
  void* (*error_occurred)() = nullptr;
  void (*error_clear)() = nullptr;
  void (*retain)(void*) = nullptr;
  void (*release)(void*) = nullptr;

  /// Throws Unavailable if a function is missing.
  static PythonApi of_process();
};

}  // namespace kymo::collect
