/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module kymo_trace._program that add records to a pass. Without one, they do nothing. */
#include "program.h"

static PyObject* metric(PyObject*, PyObject* arguments) {
  unsigned int level;
  const char* name;
  PyObject* value;
  if (!PyArg_ParseTuple(arguments, "IsO:metric", &level, &name, &value)) return NULL;
  if (!recording_host) Py_RETURN_NONE;
  if (PyUnicode_Check(value)) {
    const char* text = PyUnicode_AsUTF8AndSize(value, NULL);
    if (!text) return NULL;
    recording_host->metric_text(recording_context, level, name, text);
    Py_RETURN_NONE;
  }
  const double number = PyFloat_AsDouble(value);
  if (PyErr_Occurred()) return NULL;
  recording_host->metric_number(recording_context, level, name, number, "");
  Py_RETURN_NONE;
}

static PyObject* compilation(PyObject*, PyObject* arguments) {
  kymo_compilation record = {.size = sizeof record};
  long long step, program_step, start_ns, duration_ns, inductor_ns, line;
  if (!PyArg_ParseTuple(arguments, "ILLLLLssLs:compilation", &record.kind, &step, &program_step, &start_ns,
                        &duration_ns, &inductor_ns, &record.function, &record.file, &line, &record.reason))
    return NULL;
  record.step = step;
  record.program_step = program_step;
  record.start_ns = start_ns;
  record.duration_ns = duration_ns;
  record.inductor_ns = inductor_ns;
  record.line = line;
  if (recording_host && recording_host->compilation) recording_host->compilation(recording_context, &record);
  Py_RETURN_NONE;
}

static PyObject* tag(PyObject*, PyObject* arguments) {
  unsigned long long address, bytes;
  unsigned int category;
  if (!PyArg_ParseTuple(arguments, "KKI:tag", &address, &bytes, &category)) return NULL;
  if (recording_host && recording_host->tag)
    recording_host->tag(recording_context, (const void*)(uintptr_t)address, bytes, category);
  Py_RETURN_NONE;
}

static PyObject* library_calls_begin(PyObject*, PyObject*) {
  const kymo_collective calls = {.size = sizeof calls, .operation = KYMO_LIBRARY_CALLS};
  const int is_recorded = recording_host && recording_host->collective_begin && recording_host->collective_needed;
  return PyLong_FromUnsignedLongLong(is_recorded ? recording_host->collective_begin(recording_context, &calls) : 0);
}

static PyObject* library_calls_end(PyObject*, PyObject* handle) {
  const unsigned long long calls = PyLong_AsUnsignedLongLong(handle);
  if (PyErr_Occurred()) return NULL;
  if (calls && recording_host && recording_host->collective_end)
    recording_host->collective_end(recording_context, calls);
  Py_RETURN_NONE;
}

static PyObject* library_calls_needed(PyObject*, PyObject* arguments) {
  unsigned long long calls;
  const char* by;
  if (!PyArg_ParseTuple(arguments, "Ks:library_calls_needed", &calls, &by)) return NULL;
  if (calls && recording_host && recording_host->collective_needed)
    recording_host->collective_needed(recording_context, calls, by);
  Py_RETURN_NONE;
}

static PyObject* records_tags(PyObject*, PyObject*) { return PyBool_FromLong(recording_host && recording_host->tag); }

static PyObject* records_scopes(PyObject*, PyObject*) {
  return PyBool_FromLong(recording_host && recording_host->scope_begin);
}

PyMethodDef record_functions[] = {
    {"metric", metric, METH_VARARGS, "metric(level, name, value)"},
    {"compilation", compilation, METH_VARARGS,
     "compilation(kind, step, program_step, start_ns, duration_ns, inductor_ns, function, file, line, reason): as in "
     "kymo_compilation"},
    {"tag", tag, METH_VARARGS, "tag(address, bytes, category)"},
    {"library_calls_begin", library_calls_begin, METH_NOARGS,
     "library_calls_begin() -> int: the calls of process groups that this thread makes until library_calls_end() have "
     "one user; 0: the pass does not record them"},
    {"library_calls_end", library_calls_end, METH_O, "library_calls_end(calls)"},
    {"library_calls_needed", library_calls_needed, METH_VARARGS,
     "library_calls_needed(calls, by): this thread needs their results from now on"},
    {"records_scopes", records_scopes, METH_NOARGS, "records_scopes() -> bool: whether the pass records scopes"},
    {"records_tags", records_tags, METH_NOARGS,
     "records_tags() -> bool: whether the pass records categories of memory"},
    {NULL, NULL, 0, NULL}};
