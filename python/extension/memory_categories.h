/* SPDX-License-Identifier: Apache-2.0 */
/* The categories of memory for the Python packages. */
#ifndef KYMO_MEMORY_CATEGORIES_H
#define KYMO_MEMORY_CATEGORIES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <kymo_plugin.h>

/* Adds the dict MEMORY_CATEGORIES: numbers by name. Returns 0, or -1 with an exception set. */
static inline int add_memory_categories(PyObject* module) {
#define KYMO_FORMAT(...) "si"
#define KYMO_ITEM(NAME, Name, name, ...) , name, KYMO_##NAME
  PyObject* categories = Py_BuildValue("{" KYMO_MEMORY_CATEGORIES(KYMO_FORMAT) "}" KYMO_MEMORY_CATEGORIES(KYMO_ITEM));
#undef KYMO_FORMAT
#undef KYMO_ITEM
  const int code = categories ? PyModule_AddObjectRef(module, "MEMORY_CATEGORIES", categories) : -1;
  Py_XDECREF(categories);
  return code;
}

#endif
