/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_library.h"

#include <dlfcn.h>

#define PY_SSIZE_T_CLEAN
#include <Python.h>

const kymo_engine* load_engine(const char* file) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  kymo_engine_entry entry = NULL;
  if (library) *(void**)&entry = dlsym(library, KYMO_ENGINE_SYMBOL);
  if (!entry) {
    PyErr_Format(PyExc_OSError, "the worker engine cannot be loaded: %s", dlerror());
    return NULL;
  }
  const kymo_engine* engine = entry();
  const int major = engine ? engine->abi_major : 0, minor = engine ? engine->abi_minor : 0;
  if (!engine || engine->size < sizeof *engine || major != KYMO_ABI_MAJOR || minor < KYMO_ABI_MINOR) {
    PyErr_Format(PyExc_RuntimeError,
                 "the worker engine '%s' accepts plugins of version %d.%d, but this is version %d.%d", file, major,
                 minor, KYMO_ABI_MAJOR, KYMO_ABI_MINOR);
    return NULL;
  }
  return engine;
}
