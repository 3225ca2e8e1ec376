/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: one per module call, and one per NVTX range of the program. The functions are also called while nothing is
 * recorded, so they do only what is required. */
#include <stdint.h>

#include "program.h"

const kymo_host* recording_host;
kymo_context* recording_context;

enum { kMaxDepth = 1000 /* of scopes on a thread; deeper ones are not recorded */ };

/* The open calls or ranges of one thread. */
typedef struct {
  int depth;
  uint8_t begun[kMaxDepth]; /* whether the level has a scope: recording may begin and end while levels are open */
} Levels;
static _Thread_local Levels modules, ranges;

static int is_in_other_function; /* a compiled function, on the main thread, that is not a root call */
static int watching;
static unsigned long main_thread;
static PyObject* names; /* dict: str or None by address of the module */
static PyObject* name_of;

int is_main_thread(void) { return watching && PyThread_get_thread_ident() == main_thread; }

static int is_recording(void) { return recording_host && recording_host->scope_begin; }

static void begin_level(Levels* levels, const char* name) {
  const int begins = name && is_recording() && levels->depth < kMaxDepth;
  if (levels->depth < kMaxDepth) levels->begun[levels->depth] = (uint8_t)begins;
  ++levels->depth;
  if (begins) recording_host->scope_begin(recording_context, name);
}

static void end_level(Levels* levels) {
  --levels->depth;
  if (levels->depth < kMaxDepth && levels->begun[levels->depth] && recording_host && recording_host->scope_end)
    recording_host->scope_end(recording_context);
}

/* The name of a module's scope; NULL if it has none, or with an exception set. */
static const char* name_text(PyObject* module) {
  PyObject* key = PyLong_FromVoidPtr(module);
  PyObject* name = key ? PyDict_GetItemWithError(names, key) : NULL; /* borrowed from the dict, which keeps it */
  Py_XDECREF(key);
  if (!name && !PyErr_Occurred()) {
    PyObject* found = PyObject_CallFunctionObjArgs(name_of, module, NULL);
    Py_XDECREF(found);
    key = found ? PyLong_FromVoidPtr(module) : NULL;
    name = key ? PyDict_GetItemWithError(names, key) : NULL;
    Py_XDECREF(key);
  }
  return name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
}

/* Errors of kymo must not become errors of the program. */
static void ignore_error(void) {
  if (PyErr_Occurred()) PyErr_Clear();
}

static PyObject* enter(PyObject*, PyObject* module) {
  if (!watching) Py_RETURN_FALSE;
  if (modules.depth > 0) {
    if (!is_recording()) Py_RETURN_FALSE; /* the common case: only the calls of root modules matter */
  } else {
    const int is_observed = root_begins(module, 0);
    if (is_observed < 0) return NULL; /* ends the program */
    if (!is_observed) Py_RETURN_FALSE;
  }
  const char* name = is_recording() ? name_text(module) : NULL;
  ignore_error();
  begin_level(&modules, name);
  Py_RETURN_TRUE;
}

/* Calls within a compiled function, such as those of the module of a graph, are not observed. */
static PyObject* enter_function(PyObject*, PyObject* arguments) {
  PyObject* function;
  int is_root;
  if (!PyArg_ParseTuple(arguments, "Op:enter_function", &function, &is_root)) return NULL;
  if (modules.depth > 0 || !is_main_thread()) Py_RETURN_FALSE;
  const int is_observed = is_root ? root_begins(function, 1) : 0;
  if (is_observed < 0) return NULL;
  is_in_other_function = !is_observed;
  begin_level(&modules, NULL);
  Py_RETURN_TRUE;
}

static PyObject* leave(PyObject*, PyObject*) {
  end_level(&modules);
  if (modules.depth == 0 && is_main_thread() && is_in_other_function) {
    is_in_other_function = 0;
  } else if (modules.depth == 0 && is_main_thread()) {
    if (root_ends() < 0) PyErr_Clear();
  }
  Py_RETURN_NONE;
}

static PyObject* range_begin(PyObject*, PyObject* name) {
  const char* text = watching && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  ignore_error();
  begin_level(&ranges, text);
  Py_RETURN_NONE;
}

static PyObject* range_end(PyObject*, PyObject*) {
  if (ranges.depth > 0) end_level(&ranges);
  Py_RETURN_NONE;
}

static PyObject* watch(PyObject*, PyObject* arguments) {
  PyObject *new_names, *new_name_of, *observation, *tracing, *graph_module;
  if (!PyArg_ParseTuple(arguments, "kO!OOOO!:watch", &main_thread, &PyDict_Type, &new_names, &new_name_of, &observation,
                        &tracing, &PyType_Type, &graph_module))
    return NULL;
  names = Py_NewRef(new_names);
  name_of = Py_NewRef(new_name_of);
  set_observation(observation, tracing, graph_module);
  watching = 1;
  Py_RETURN_NONE;
}

static PyObject* unwatch(PyObject*, PyObject*) {
  watching = 0;
  end_following();
  Py_RETURN_NONE;
}

PyMethodDef scope_functions[] = {
    {"watch", watch, METH_VARARGS,
     "watch(thread, names, name_of, observation, tracing, graph_module): begins to observe module calls. names: dict "
     "of str or None by id(), to which name_of(module) adds missing modules. The other parameters: see program.h"},
    {"unwatch", unwatch, METH_NOARGS, "unwatch(): stops observing; enter() returns False from now on."},
    {"enter", enter, METH_O, "enter(module) -> bool: whether leave() has to be called at the end of the call"},
    {"enter_function", enter_function, METH_VARARGS,
     "enter_function(function, is_root) -> bool: the same for a compiled function, which has no scope; is_root: the "
     "call is a root call, like that of a module"},
    {"leave", leave, METH_NOARGS, "leave()"},
    {"range_begin", range_begin, METH_O, "range_begin(name)"},
    {"range_end", range_end, METH_NOARGS, "range_end()"},
    {NULL, NULL, 0, NULL}};
