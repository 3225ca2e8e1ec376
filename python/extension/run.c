/* SPDX-License-Identifier: Apache-2.0 */
/* Run: the host functions of one workload instance, as methods. */
#include <stddef.h>
#include <string.h>

#include "extension.h"

static PyTypeObject* run_type;

const char* text_of(PyObject* object, const char* what) {
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", what, (PyObject*)Py_TYPE(object));
    return NULL;
  }
  Py_ssize_t bytes = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &bytes);
  if (text && strlen(text) != (size_t)bytes) {
    PyErr_Format(PyExc_ValueError, "%s must not contain a null character", what);
    return NULL;
  }
  return text;
}

int raise_ended(void) {
  PyErr_SetString(PyExc_RuntimeError,
                  "this run has ended: its run, phases and scopes can no longer be used, not even on other threads");
  return -1;
}

int raise_wrong_thread(const char* what) {
  PyErr_Format(PyExc_RuntimeError, "%s can only be used on the thread that runs the workload", what);
  return -1;
}

void end_unwound_phase(Run* run) {
  run->unwinding = 0;
  if (run->host && run->host->phase_end) run->host->phase_end(run->context);
}

Run* new_run(const kymo_host* host, kymo_context* context) {
  const kymo_placement* placement = host->placement(context);
  const char* rendezvous_host = placement->rendezvous_host ? placement->rendezvous_host : "";
  PyObject* text = PyUnicode_DecodeUTF8(rendezvous_host, (Py_ssize_t)strlen(rendezvous_host), "replace");
  PyObject* phases = PyDict_New();
  Run* run = text && phases ? PyObject_New(Run, run_type) : NULL;
  if (!run) {
    Py_XDECREF(text);
    Py_XDECREF(phases);
    return NULL;
  }
  run->phases = phases;
  run->host = host;
  run->context = context;
  run->placement = *placement;
  run->rendezvous_host = text;
  run->seed = host->seed ? host->seed(context) : 0;
  run->thread = PyThread_get_thread_ident();
  run->unwinding = 0;
  return run;
}

static void run_free(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF(((Run*)object)->rendezvous_host);
  Py_XDECREF(((Run*)object)->phases);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* A cudaStream_t from None, an int, or an object with the attribute cuda_stream, such as torch.cuda.Stream. */
static int stream_of(PyObject* object, void** stream) {
  *stream = NULL;
  if (object == Py_None) return 0;
  PyObject* handle = PyLong_Check(object) ? Py_NewRef(object) : PyObject_GetAttrString(object, "cuda_stream");
  *stream = handle ? PyLong_AsVoidPtr(handle) : NULL;
  Py_XDECREF(handle);
  if (!PyErr_Occurred()) return 0;
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError,
               "a stream must be None, a torch.cuda.Stream or the integer handle of a CUDA stream, not %R", object);
  return -1;
}

/* Called in timed code: only calls with several arguments are parsed. */
static PyObject* run_phase(PyObject* object, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  Run* run = (Run*)object;
  PyObject* stream_object = count == 2 ? given[1] : Py_None;
  const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
  if (count == 1 && named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, 0), "stream") == 0) {
    stream_object = given[1];
  } else if (count < 1 || count > 2 || named > 0) {
    PyErr_SetString(PyExc_TypeError, "phase() takes a name and, optionally, a stream: phase(name, stream=None)");
    return NULL;
  }
  void* stream;
  if (require_live(run) || stream_of(stream_object, &stream)) return NULL;
  return get_phase(run, given[0], stream);
}

static PyObject* run_scope(PyObject* object, PyObject* name) {
  Run* run = (Run*)object;
  return require_live(run) ? NULL : new_scope(run, name);
}

static PyObject* run_collective(PyObject* object, PyObject* arguments) {
  Run* run = (Run*)object;
  unsigned int operation;
  unsigned long long bytes, sequence = 0;
  PyObject *given, *communicator, *counted;
  if (!PyArg_ParseTuple(arguments, "IKOOO:collective", &operation, &bytes, &given, &communicator, &counted))
    return NULL;
  kymo_collective call = {offsetof(kymo_collective, sequence), operation, bytes, NULL, NULL, 0};
  if (require_live(run) || stream_of(given, &call.stream)) return NULL;
  /* The handle of the default stream is NULL, which means that the work runs on the host. 1: cudaStreamLegacy. */
  if (given != Py_None && !call.stream) call.stream = (void*)(uintptr_t)1;
  if (communicator != Py_None && !(call.communicator = text_of(communicator, "the name of a communicator")))
    return NULL;
  if (counted != Py_None) {
    sequence = PyLong_AsUnsignedLongLong(counted);
    if (PyErr_Occurred()) return NULL;
    call.sequence = sequence;
    call.size = sizeof call;
  }
  return new_collective(run, &call, communicator == Py_None ? NULL : communicator);
}

static PyObject* run_work(PyObject* object, PyObject* arguments) {
  Run* run = (Run*)object;
  PyObject* phase;
  double flops, bytes;
  if (!PyArg_ParseTuple(arguments, "Odd:work", &phase, &flops, &bytes)) return NULL;
  const char* text = text_of(phase, "the name of a phase");
  if (!text || require_live(run) || require_workload_thread(run, "work()")) return NULL;
  if (run->host->work) run->host->work(run->context, text, flops, bytes);
  Py_RETURN_NONE;
}

static PyObject* run_operator_work(PyObject* object, PyObject* arguments) {
  Run* run = (Run*)object;
  PyObject *name, *call_arguments;
  double flops, bytes;
  if (!PyArg_ParseTuple(arguments, "OddO:operator_work", &name, &flops, &bytes, &call_arguments)) return NULL;
  const char* name_text = text_of(name, "the name of an operator");
  const char* arguments_text = name_text ? text_of(call_arguments, "the arguments of an operator") : NULL;
  if (!arguments_text || require_live(run) || require_workload_thread(run, "operator_work()")) return NULL;
  if (run->host->operator_work) run->host->operator_work(run->context, name_text, arguments_text, flops, bytes);
  Py_RETURN_NONE;
}

static PyObject* run_metric(PyObject* object, PyObject* arguments) {
  Run* run = (Run*)object;
  const kymo_host* host = run->host;
  unsigned int level;
  PyObject *name, *value, *unit;
  if (!PyArg_ParseTuple(arguments, "IOOO:metric", &level, &name, &value, &unit)) return NULL;
  const char* name_text = text_of(name, "the name of a metric");
  const char* unit_text = name_text ? text_of(unit, "the unit of a metric") : NULL;
  if (!unit_text || require_live(run)) return NULL;
  if (PyUnicode_Check(value)) {
    const char* text = text_of(value, "the value of a metric");
    if (!text) return NULL;
    if (host->metric_text) host->metric_text(run->context, level, name_text, text);
    Py_RETURN_NONE;
  }
  const double number = PyFloat_AsDouble(value);
  if (PyErr_Occurred()) return NULL;
  if (host->metric_number) host->metric_number(run->context, level, name_text, number, unit_text);
  Py_RETURN_NONE;
}

static PyObject* run_mark(PyObject* object, PyObject* name) {
  Run* run = (Run*)object;
  const char* text = text_of(name, "the name of a mark");
  if (!text || require_live(run)) return NULL;
  if (run->host->mark) run->host->mark(run->context, text);
  Py_RETURN_NONE;
}

static PyObject* run_tag(PyObject* object, PyObject* arguments) {
  Run* run = (Run*)object;
  unsigned long long address, bytes;
  unsigned int category;
  if (!PyArg_ParseTuple(arguments, "KKI:tag", &address, &bytes, &category) || require_live(run)) return NULL;
  if (run->host->tag) run->host->tag(run->context, (const void*)(uintptr_t)address, bytes, category);
  Py_RETURN_NONE;
}

static PyObject* run_log(PyObject* object, PyObject* arguments) {
  Run* run = (Run*)object;
  unsigned int level;
  PyObject* message;
  if (!PyArg_ParseTuple(arguments, "IO:log", &level, &message)) return NULL;
  const char* text = text_of(message, "a log message");
  if (!text || require_live(run)) return NULL;
  if (run->host->log) run->host->log(run->context, level, text);
  Py_RETURN_NONE;
}

static PyObject* run_all_gather(PyObject* object, PyObject* given) {
  Run* run = (Run*)object;
  char* mine;
  Py_ssize_t bytes;
  if (PyBytes_AsStringAndSize(given, &mine, &bytes)) return NULL;
  if (require_live(run) || require_workload_thread(run, "all_gather()")) return NULL;
  const Py_ssize_t ranks = run->placement.world_size;
  if (ranks == 1) return Py_NewRef(given);
  if (bytes > PY_SSIZE_T_MAX / ranks) return PyErr_NoMemory();
  PyObject* all = PyBytes_FromStringAndSize(NULL, bytes * ranks);
  if (!all) return NULL;
  char* const received = PyBytes_AsString(all);
  const kymo_host* host = run->host;
  kymo_status status = KYMO_FAILED;
  Py_BEGIN_ALLOW_THREADS if (host->all_gather_bytes) status =
      host->all_gather_bytes(run->context, mine, (uint64_t)bytes, received);
  Py_END_ALLOW_THREADS if (status == KYMO_OK) return all;
  Py_DECREF(all);
  PyErr_SetString(PyExc_RuntimeError, "all_gather failed: another rank ended or did not call it");
  return NULL;
}

static PyObject* run_parameter(PyObject* object, PyObject* name) {
  Run* run = (Run*)object;
  const char* text = text_of(name, "the name of a parameter");
  if (!text || require_live(run) || require_workload_thread(run, "parameter()")) return NULL;
  kymo_value value;
  memset(&value, 0, sizeof value);
  if (!run->host->parameter || run->host->parameter(run->context, text, &value) != KYMO_OK) {
    PyErr_Format(PyExc_KeyError, "the run has no parameter '%U'", name);
    return NULL;
  }
  switch (value.type) {
    case KYMO_INT:
      return PyLong_FromLongLong(value.integer);
    case KYMO_REAL:
      return PyFloat_FromDouble(value.real);
    case KYMO_BOOL:
      return PyBool_FromLong(value.boolean);
    default:
      return PyUnicode_FromString(value.text ? value.text : "");
  }
}

static PyObject* get_number(PyObject* run, void* offset) {
  return PyLong_FromLong(*(const int32_t*)((const char*)run + (uintptr_t)offset));
}
static PyObject* get_device(PyObject* run, void*) {
  return PyUnicode_FromString(((Run*)run)->placement.device == KYMO_CUDA ? "cuda" : "cpu");
}
static PyObject* get_on_meta(PyObject* run, void*) { return PyBool_FromLong(((Run*)run)->placement.on_meta); }
static PyObject* get_rendezvous_host(PyObject* run, void*) { return Py_NewRef(((Run*)run)->rendezvous_host); }
static PyObject* get_rendezvous_port(PyObject* run, void*) {
  return PyLong_FromUnsignedLong(((Run*)run)->placement.rendezvous_port);
}
static PyObject* get_seed(PyObject* run, void*) { return PyLong_FromUnsignedLongLong(((Run*)run)->seed); }
static PyObject* get_cancelled(PyObject* object, void*) {
  const Run* run = (Run*)object;
  return PyBool_FromLong(!run->host || (run->host->cancelled && run->host->cancelled(run->context)));
}
static PyObject* get_records_tags(PyObject* object, void*) {
  const Run* run = (Run*)object;
  return PyBool_FromLong(run->host && run->host->tag);
}

#define PLACED(field) (void*)(offsetof(Run, placement) + offsetof(kymo_placement, field))
static PyGetSetDef run_attributes[] = {
    {"rank", get_number, NULL, "Rank of this process.", PLACED(rank)},
    {"world_size", get_number, NULL, "Number of ranks.", PLACED(world_size)},
    {"local_rank", get_number, NULL, "Index among the ranks on this host.", PLACED(local_rank)},
    {"device", get_device, NULL, "'cpu' or 'cuda'.", NULL},
    {"device_index", get_number, NULL, "Index of the CUDA device in this process; 0 on a CPU.", PLACED(device_index)},
    {"on_meta", get_on_meta, NULL, "True if the memory of the workload is predicted.", NULL},
    {"rendezvous_host", get_rendezvous_host, NULL, "Address of the rendezvous server.", NULL},
    {"rendezvous_port", get_rendezvous_port, NULL, "Port of the rendezvous server; 0 for a single rank.", NULL},
    {"seed", get_seed, NULL, "Random seed, identical on all ranks.", NULL},
    {"cancelled", get_cancelled, NULL, "True if the run is being cancelled or has ended.", NULL},
    {"records_tags", get_records_tags, NULL, "True if this pass records the categories of memory blocks.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef run_methods[] = {
    {"phase", (PyCFunction)(void (*)(void))run_phase, METH_FASTCALL | METH_KEYWORDS,
     "phase(name, stream=None) -> Phase. The stream is a torch.cuda.Stream or the handle of a CUDA stream."},
    {"scope", run_scope, METH_O, "scope(name) -> Scope"},
    {"collective", run_collective, METH_VARARGS,
     "collective(operation, bytes, stream, communicator, sequence) -> Collective. None: on the host, the only "
     "communicator, counted by the host."},
    {"work", run_work, METH_VARARGS, "work(phase, flops, bytes)"},
    {"operator_work", run_operator_work, METH_VARARGS, "operator_work(name, flops, bytes, arguments)"},
    {"metric", run_metric, METH_VARARGS, "metric(level, name, value, unit); a str is a textual metric without unit"},
    {"mark", run_mark, METH_O, "mark(name): marks the current time on the memory timeline."},
    {"tag", run_tag, METH_VARARGS, "tag(address, bytes, category)"},
    {"log", run_log, METH_VARARGS, "log(level, message)"},
    {"all_gather_bytes", run_all_gather, METH_O,
     "all_gather_bytes(bytes) -> bytes of all ranks in rank order. All ranks must pass the same number of bytes."},
    {"parameter", run_parameter, METH_O, "parameter(name) -> value of a declared parameter"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot run_slots[] = {{Py_tp_doc,
                                   "The host functions of one workload instance. After the workload was "
                                   "destroyed, its methods raise RuntimeError."},
                                  {Py_tp_dealloc, run_free},
                                  {Py_tp_methods, run_methods},
                                  {Py_tp_getset, run_attributes},
                                  {0, NULL}};
static PyType_Spec run_spec = {"kymo._engine.Run", sizeof(Run), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, run_slots};

int add_run_type(PyObject* module) {
  run_type = (PyTypeObject*)PyType_FromSpec(&run_spec);
  return run_type ? PyModule_AddType(module, run_type) : -1;
}
